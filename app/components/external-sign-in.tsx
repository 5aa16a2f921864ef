import { withReturnTo } from "~/answers/return-to";
import { usePage } from "~/document/page-context";
import { LastUsed } from "./form-controls";
import marks from "./provider-marks.svg";

export function Mark({ of }: { of: string }) {
  return (
    <svg className="mark" aria-hidden="true" focusable="false">
      <use href={`${marks}#${of}`} />
    </svg>
  );
}

interface ExternalSignInProps {
  provider: string | null;
  returnTo: string | null;
  or?: boolean;
  lastUsed?: boolean;
  otherAccount?: boolean;
}

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider, returnTo, or = true, lastUsed, otherAccount }: ExternalSignInProps) {
  const { t, providerMark } = usePage();
  return (
    <>
      {or && <p className="or">{t("common.or")}</p>}
      <p>
        <a href={withReturnTo("/auth/idp", returnTo)} className="button quiet">
          <span>
            {t("common.signInWith", { provider: provider ?? "" })}
            {lastUsed && <LastUsed />}
          </span>
          <Mark of={providerMark} />
        </a>
        {otherAccount && (
          <a href={withReturnTo("/auth/idp?prompt=select_account", returnTo)} className="other-account">
            {t("failure.otherAccount")}
          </a>
        )}
      </p>
    </>
  );
}

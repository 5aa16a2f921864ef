import { withReturnTo } from "~/answers/return-to";
import { useTexts } from "~/document/language";
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

export function LeaveProvider({ providerLogout }: { providerLogout: string | null }) {
  const t = useTexts();
  return providerLogout && <p className="aside">{<a href={providerLogout}>{t("login.leaveProvider")}</a>}</p>;
}

interface ExternalSignInProps {
  provider: string | null;
  returnTo: string | null;
  or?: boolean;
  lastUsed?: boolean;
}

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider, returnTo, or = true, lastUsed = false }: ExternalSignInProps) {
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
      </p>
    </>
  );
}

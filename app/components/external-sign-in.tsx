import type { InAppBrowser } from "#server/features/visitor/in-app-browser";
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

/** Says that the provider's button does not work in this app's browser, and offers another browser. */
function WayOut({ app, address, openUrl, provider }: InAppBrowser & { provider: string }) {
  const t = useTexts();
  return (
    <>
      <p className="notice calm">
        {app === null ? t("inApp.unknown", { provider }) : t("inApp.app", { app, provider })}
      </p>
      {openUrl === null ? (
        <label>
          {t("inApp.copy")}
          <input dir="ltr" readOnly value={address} onFocus={(event) => event.currentTarget.select()} />
        </label>
      ) : (
        <p>
          <a href={openUrl} className="button">
            {t("inApp.open")}
          </a>
        </p>
      )}
    </>
  );
}

export function LeaveProvider({ providerLogout }: { providerLogout: string | null }) {
  const t = useTexts();
  return providerLogout && <p className="aside">{<a href={providerLogout}>{t("login.leaveProvider")}</a>}</p>;
}

interface ExternalSignInProps {
  provider: string | null;
  inApp: InAppBrowser | null;
  returnTo: string | null;
  maxAge: number | null;
  or?: boolean;
  lastUsed?: boolean;
  otherAccount?: boolean;
}

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn(props: ExternalSignInProps) {
  const { provider, inApp, returnTo, maxAge, or = true, lastUsed, otherAccount } = props;
  const { t, providerMark } = usePage();
  return (
    <>
      {or && <p className="or">{t("common.or")}</p>}
      {inApp && <WayOut {...inApp} provider={provider ?? ""} />}
      <p>
        <a href={withReturnTo("/auth/idp", returnTo, maxAge)} className="button quiet">
          <span>
            {t("common.signInWith", { provider: provider ?? "" })}
            {lastUsed && <LastUsed />}
          </span>
          <Mark of={providerMark} />
        </a>
        {otherAccount && (
          <a href={withReturnTo("/auth/idp?prompt=select_account", returnTo, maxAge)} className="other-account">
            {t("failure.otherAccount")}
          </a>
        )}
      </p>
    </>
  );
}

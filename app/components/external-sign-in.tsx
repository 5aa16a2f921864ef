import type { InAppBrowser } from "#server/features/visitor/in-app-browser";
import { withReturnTo } from "~/answers/return-to";
import { usePage, useTexts } from "~/document/page-context";
import { CopyButton, Mark } from "./form-controls";

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
        <a href={withReturnTo("/auth/idp", returnTo, maxAge)} className={inApp ? "other-account" : "button quiet"}>
          <span>
            {t("common.signInWith", { provider: provider ?? "" })}
            {lastUsed && <LastUsed />}
          </span>
          {!inApp && <Mark of={providerMark} />}
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

/** Says that the provider's button does not work in this app's browser, and offers another browser. */
function WayOut({ app, address, openUrl, provider }: InAppBrowser & { provider: string }) {
  const t = useTexts();
  return (
    <>
      <p className="notice calm">
        {app === null ? t("inApp.unknown", { provider }) : t("inApp.app", { app, provider })}
      </p>
      {openUrl === null ? (
        <div className="field">
          <p>{t("inApp.copy")}</p>
          <p className="value" dir="ltr">
            {address}
          </p>
          <CopyButton text={address} />
        </div>
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

/** A part of a button's accessible name: this browser signed in last with this button. */
export function LastUsed() {
  const t = useTexts();
  return (
    <>
      {" "}
      <small className="mark-last">{t("login.lastUsed")}</small>
    </>
  );
}

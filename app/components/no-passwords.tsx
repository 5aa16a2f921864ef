import { Link, useSearchParams } from "@remix-run/react";
import { returnToName, withReturnTo } from "~/answers/return-to";
import { usePage } from "~/document/page-context";
import { Page } from "./page";

/** For every page about passwords, with `PASSWORDS=off`. */
export function NoPasswords() {
  const { t, passwordless } = usePage();
  const returnTo = useSearchParams()[0].get(returnToName);
  return (
    <Page title={t("noPasswords.title")}>
      <p>{t("noPasswords.text", { provider: passwordless ?? "" })}</p>
      <p className="aside">
        <Link to={withReturnTo("/login", returnTo)}>{t("common.backToLogin")}</Link>
      </p>
    </Page>
  );
}

import { Link } from "@remix-run/react";
import { Page } from "~/components/page";
import { useTexts } from "~/language";
import { titled } from "~/title";

export const handle = titled("deleted.title");

export default function AccountDeleted() {
  const t = useTexts();
  return (
    <Page title={t("deleted.title")}>
      <p>{t("deleted.text")}</p>
      <p className="aside">
        <Link to="/register">{t("deleted.createNew")}</Link>
      </p>
    </Page>
  );
}

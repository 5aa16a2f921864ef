import { Link, useLoaderData } from "@remix-run/react";
import { offersRegistration } from "#server/features/visitor/registration";
import { Page } from "~/components/page";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";

export const handle = titled("deleted.title");

export function loader() {
  return { registrationClosed: !offersRegistration() };
}

export default function AccountDeleted() {
  const t = useTexts();
  const { registrationClosed } = useLoaderData<typeof loader>();
  return (
    <Page title={t("deleted.title")}>
      <p>{t("deleted.text")}</p>
      {!registrationClosed && (
        <p className="aside">
          <Link to="/register">{t("deleted.createNew")}</Link>
        </p>
      )}
    </Page>
  );
}

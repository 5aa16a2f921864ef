import type { LoaderFunctionArgs } from "@remix-run/node";
import { data, Link, useLoaderData } from "@remix-run/react";
import { offersRegistration } from "#server/features/visitor/registration";
import { respond } from "~/answers/responses";
import { LeaveProvider, Page } from "~/components/page";
import { useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { providerLogoutLink } from "~/visitor/session";

export { pageHeaders as headers } from "~/answers/responses";

export const handle = titled("deleted.title");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const { headers, ...link } = await providerLogoutLink(request);
    return data({ hasRegistration: offersRegistration(), ...link }, { headers });
  });
}

export default function AccountDeleted() {
  const t = useTexts();
  const { hasRegistration, providerLogout } = useLoaderData<typeof loader>();
  return (
    <Page title={t("deleted.title")}>
      <p>{t("deleted.text")}</p>
      <LeaveProvider providerLogout={providerLogout} />
      {hasRegistration && (
        <p className="aside">
          <Link to="/register">{t("deleted.createNew")}</Link>
        </p>
      )}
    </Page>
  );
}

import type { LoaderFunctionArgs } from "@remix-run/node";
import { Form, useLoaderData } from "@remix-run/react";
import { respond } from "~/answers/responses";
import { withReturnTo } from "~/answers/return-to";
import { SubmitButton } from "~/components/form-controls";
import { Page } from "~/components/page";
import { useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { logOutPage } from "~/visitor/session";

export const handle = titled("noAccess.title");

/** `/auth/verify?group=NAME` redirects a browser here if its user is in none of the groups. */
export function loader({ request }: LoaderFunctionArgs) {
  return respond(() => logOutPage(request));
}

export default function NoAccess() {
  const t = useTexts();
  const { account, returnTo } = useLoaderData<typeof loader>();
  return (
    <Page title={t("noAccess.title")}>
      <p>{t("noAccess.text", { account })}</p>
      <Form method="post" action={withReturnTo("/logout", returnTo)}>
        <SubmitButton>{t("noAccess.leave")}</SubmitButton>
      </Form>
      {returnTo && (
        <p className="aside">
          <a href={returnTo}>{t("noAccess.again")}</a>
        </p>
      )}
    </Page>
  );
}

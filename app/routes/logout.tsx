import type { ActionFunctionArgs, LoaderFunctionArgs } from "@remix-run/node";
import { Form, useLoaderData } from "@remix-run/react";
import { respond } from "~/answers/responses";
import { withReturnTo } from "~/answers/return-to";
import { SubmitButton } from "~/components/form-controls";
import { Page } from "~/components/page";
import { useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { readFields } from "~/forms/form";
import { logOutAndRedirect, logOutPage } from "~/visitor/session";

export const handle = titled("account.logOut");

/** A page with a button, so that a link on another site signs nobody out. */
export function loader({ request }: LoaderFunctionArgs) {
  return respond(() => logOutPage(request));
}

export function action({ request }: ActionFunctionArgs) {
  return respond(async () => {
    await readFields(request);
    return logOutAndRedirect(request);
  });
}

export default function LogOut() {
  const t = useTexts();
  const { account, returnTo } = useLoaderData<typeof loader>();
  return (
    <Page title={t("account.logOut")}>
      <p>{t("noAccess.signedIn", { account })}</p>
      <Form method="post" action={withReturnTo("/logout", returnTo)}>
        <SubmitButton>{t("account.logOut")}</SubmitButton>
      </Form>
    </Page>
  );
}

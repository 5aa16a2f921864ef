import type { LoaderFunctionArgs } from "@remix-run/node";
import { Form, Link, useLoaderData } from "@remix-run/react";
import { eventsOf, eventsOnPage, eventWords } from "#server/features/owner/activity";
import { localMomentIn } from "#server/languages/translate";
import { recentSignInMinutes } from "#server/rules";
import { shownMoment } from "~/account/account-page";
import { respond } from "~/answers/responses";
import { SubmitButton } from "~/components/form-controls";
import { Page } from "~/components/page";
import { useHydrated, usePage, useTexts } from "~/document/page-context";
import { titled } from "~/document/title";
import { mustSignInAgain, requireUser } from "~/visitor/session";

export const handle = titled("activity.title");

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const owner = await requireUser(request);
    const { searchParams } = new URL(request.url);
    const page = pageNumber(searchParams.get("page"));
    const sentMails = searchParams.has("mails");
    const offset = (page - 1) * eventsOnPage;
    const found = await eventsOf(owner.user.id, { limit: eventsOnPage + 1, offset, sentMails });
    const events = found.slice(0, eventsOnPage).map((event) => ({
      id: event.id,
      ...eventWords(event, owner.language),
      when: shownMoment(owner, event.at),
      current: event.sessionKey === owner.sessionKey,
    }));
    const older = found.length > eventsOnPage ? page + 1 : null;
    const newer = page > 1 ? page - 1 : null;
    return { events, older, newer, sentMails, signInAgain: mustSignInAgain(owner) };
  });
}

/** 1 for everything else than the number of a page. */
const pageNumber = (text: string | null) => (/^[1-9]$/.test(text ?? "") ? Number(text) : 1);

export default function Activity() {
  const t = useTexts();
  const { events, older, newer, sentMails, signInAgain } = useLoaderData<typeof loader>();
  const mails = sentMails ? "&mails" : "";
  return (
    <Page title={t("activity.title")} wide>
      <p className="aside">
        <Link to="/dashboard">{t("common.accountTitle")}</Link>
      </p>
      <p>{t("activity.lead")}</p>
      <p>
        <Link to={sentMails ? "?" : "?mails"}>{t(sentMails ? "activity.hideMails" : "activity.showMails")}</Link>
      </p>
      <ul className="rows">
        {events.map(({ id, what, when, by, current }) => (
          <li key={id}>
            <p>
              {what}
              {current && <strong> · {t("activity.thisSession")}</strong>}
              <small className="muted">
                <When {...when} />
                {by && ` · ${by}`}
              </small>
            </p>
          </li>
        ))}
      </ul>
      <p className="aside">
        {newer && <Link to={`?page=${newer}${mails}`}>{t("activity.newer")}</Link>}
        {newer && older && " · "}
        {older && <Link to={`?page=${older}${mails}`}>{t("activity.older")}</Link>}
      </p>
      <section>
        <h2>{t("activity.data")}</h2>
        <ul className="rows">
          <li>
            <p>
              {t("activity.dataLead")}
              {signInAgain && (
                <small className="muted">{t("account.signInAgain", { count: recentSignInMinutes })}</small>
              )}
            </p>
            <Form method="post" action="/account/data" reloadDocument>
              <SubmitButton className="quiet">{t("activity.download")}</SubmitButton>
            </Form>
          </li>
        </ul>
      </section>
    </Page>
  );
}

// Rows and moments of its own: a chunk that it shared with the account page would take that page over 100 KiB.
function When({ at, ago, exact }: ReturnType<typeof shownMoment>) {
  const { language } = usePage();
  return (
    <time dateTime={at} title={ago}>
      {useHydrated() ? localMomentIn(language, new Date(at)) : exact}
    </time>
  );
}

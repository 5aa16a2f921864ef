import type { LoaderFunctionArgs } from "@remix-run/node";
import { Form, Link, useLoaderData } from "@remix-run/react";
import { eventsOf, eventsOnPage, eventWords } from "#server/features/owner/activity";
import { recentSignInMinutes } from "#server/rules";
import { shownMoment } from "~/account/account-page";
import { methodNotAllowed, respond } from "~/answers/responses";
import { Row, Section } from "~/components/account-action";
import { SubmitButton } from "~/components/form-controls";
import { Moment } from "~/components/moment";
import { Page } from "~/components/page";
import { useTexts } from "~/document/language";
import { titled } from "~/document/title";
import { mustSignInAgain, requireUser } from "~/visitor/session";
import { ownerOf } from "~/visitor/visitor";

export const handle = titled("activity.title");

/** 1 for everything else than the number of a page. */
const pageNumber = (text: string | null) => (/^[1-9]$/.test(text ?? "") ? Number(text) : 1);

export function loader({ request }: LoaderFunctionArgs) {
  return respond(async () => {
    const owner = ownerOf(request, await requireUser(request));
    const page = pageNumber(new URL(request.url).searchParams.get("page"));
    const offset = (page - 1) * eventsOnPage;
    const found = await eventsOf(owner.userId, { limit: eventsOnPage + 1, offset });
    const events = found.slice(0, eventsOnPage).map((event) => ({
      id: event.id,
      ...eventWords(event, owner.language),
      when: shownMoment(owner, event.at),
      current: event.sessionKey === owner.sessionKey,
    }));
    const older = found.length > eventsOnPage ? page + 1 : null;
    return { events, older, newer: page > 1 ? page - 1 : null, signInAgain: mustSignInAgain(owner) };
  });
}

export function action() {
  throw methodNotAllowed("GET, HEAD");
}

export default function Activity() {
  const t = useTexts();
  const { events, older, newer, signInAgain } = useLoaderData<typeof loader>();
  return (
    <Page title={t("activity.title")} wide>
      <p className="aside">
        <Link to="/dashboard">{t("common.accountTitle")}</Link>
      </p>
      <Section title={t("activity.what")} lead={t("activity.lead")}>
        {events.map(({ id, what, when, by, current }) => (
          <Row
            key={id}
            name={
              <>
                {what}
                {current && <strong> · {t("activity.thisSession")}</strong>}
              </>
            }
            detail={
              <>
                <Moment {...when} />
                {by && ` · ${by}`}
              </>
            }
          />
        ))}
      </Section>
      {(newer || older) && (
        <p className="aside">
          {newer && <Link to={`?page=${newer}`}>{t("activity.newer")}</Link>}
          {newer && older && " · "}
          {older && <Link to={`?page=${older}`}>{t("activity.older")}</Link>}
        </p>
      )}
      <Section title={t("activity.data")}>
        <Row
          name={t("activity.dataLead")}
          detail={signInAgain && t("account.signInAgain", { count: recentSignInMinutes })}
        >
          <Form method="post" action="/account/data" reloadDocument>
            <SubmitButton className="quiet">{t("activity.download")}</SubmitButton>
          </Form>
        </Row>
      </Section>
    </Page>
  );
}

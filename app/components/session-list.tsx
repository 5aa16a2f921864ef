import { localMomentIn } from "#server/languages/translate";
import { useHydrated } from "~/page/hydrated";
import { Text, useDocumentLanguage, useTexts } from "~/page/language";
import { ActionForm } from "./action-form";

export interface SessionItem {
  id: string;
  browser: string;
  since: Moment;
  lastSeen: Moment;
  current: boolean;
}

/** When something was: in ISO 8601, and in words of the page's language how long ago, and exactly in UTC. */
interface Moment {
  at: string;
  ago: string;
  exact: string;
}

/** A script knows the visitor's time zone: the exact time changes to it after hydration. */
function Line({ of, at, ago, exact }: Moment & { of: "sessions.since" | "sessions.lastSeen" }) {
  const { lang } = useDocumentLanguage();
  const title = useHydrated() ? localMomentIn(lang, new Date(at)) : exact;
  const time = (text: string) => (
    <time dateTime={at} title={title}>
      {text}
    </time>
  );
  return <Text of={of} values={{ moment: ago }} parts={{ time }} />;
}

/** The user's sessions, each with a button that ends it. */
export function SessionList({ sessions }: { sessions: SessionItem[] }) {
  const t = useTexts();
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">{t("sessions.title")}</h2>
      <ul className="rows">
        {sessions.map(({ id, browser, since, lastSeen, current }) => (
          <li key={id}>
            <p>
              {browser}
              {current && <strong> · {t("sessions.thisBrowser")}</strong>}
              <br />
              <small className="muted">
                <Line of="sessions.since" {...since} />
                <br />
                <Line of="sessions.lastSeen" {...lastSeen} />
              </small>
            </p>
            {!current && <ActionForm fields={{ intent: "end-session", sessionId: id }} submit={t("sessions.end")} />}
          </li>
        ))}
      </ul>
      {sessions.length > 1 && <ActionForm fields={{ intent: "end-other-sessions" }} submit={t("sessions.endOthers")} />}
    </section>
  );
}

import { localMomentIn } from "#server/languages/translate";
import { Text } from "~/page/language";
import { useHydrated, usePage } from "~/page/page-context";
import { ActionForm } from "./account-action";

/** When something was: in ISO 8601, and in the page's language how long ago and exactly, in UTC. */
interface Moment {
  at: string;
  ago: string;
  exact: string;
}

export interface SessionItem {
  id: string;
  browser: string;
  since: Moment;
  lastSeen: Moment;
  current: boolean;
}

/** The user's sessions, each with a button that ends it. A script knows the visitor's time zone, the server does not. */
export function SessionList({ sessions }: { sessions: SessionItem[] }) {
  const { t, language } = usePage();
  const hydrated = useHydrated();
  const line = (of: "sessions.since" | "sessions.lastSeen", { at, ago, exact }: Moment) => {
    const title = hydrated ? localMomentIn(language, new Date(at)) : exact;
    const time = (text: string) => (
      <time dateTime={at} title={title}>
        {text}
      </time>
    );
    return <Text of={of} values={{ moment: ago }} parts={{ time }} />;
  };
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
                {line("sessions.since", since)}
                <br />
                {line("sessions.lastSeen", lastSeen)}
              </small>
            </p>
            {!current && <ActionForm intent="end-session" sessionId={id} submit={t("sessions.end")} />}
          </li>
        ))}
      </ul>
      {sessions.length > 1 && <ActionForm intent="end-other-sessions" submit={t("sessions.endOthers")} />}
    </section>
  );
}

import { Text, useTexts } from "~/page/language";
import { ActionForm } from "./action-form";

export interface SessionItem {
  id: string;
  browser: string;
  since: Moment;
  lastSeen: Moment;
  current: boolean;
}

/** When something was, in UTC and in words of the page's language. */
interface Moment {
  at: string;
  moment: string;
}

function Line({ of, at, moment }: Moment & { of: "sessions.since" | "sessions.lastSeen" }) {
  return <Text of={of} values={{ moment }} parts={{ time: (text) => <time dateTime={at}>{text}</time> }} />;
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

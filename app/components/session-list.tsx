import { useTexts } from "~/document/language";
import { ActionForm } from "./account-action";
import { type Moment, MomentLine } from "./moment";

export interface SessionItem {
  id: string;
  browser: string;
  since: Moment;
  lastSeen: Moment;
  current: boolean;
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
                <MomentLine of="sessions.since" {...since} />
                <br />
                <MomentLine of="sessions.lastSeen" {...lastSeen} />
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

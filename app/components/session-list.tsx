import { ActionForm } from "./action-form";

export interface SessionItem {
  id: string;
  browser: string;
  since: string;
  lastSeen: string;
  current: boolean;
}

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

function Moment({ at }: { at: string }) {
  return <time dateTime={at}>{`${day.format(new Date(at))}, ${at.slice(11, 16)} UTC`}</time>;
}

/** The user's sessions, each with a button that ends it. */
export function SessionList({ sessions }: { sessions: SessionItem[] }) {
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Where you are signed in</h2>
      <ul className="rows">
        {sessions.map(({ id, browser, since, lastSeen, current }) => (
          <li key={id}>
            <p>
              {browser}
              {current && <strong> · this browser</strong>}
              <br />
              <small className="muted">
                Signed in <Moment at={since} />
                <br />
                Last seen <Moment at={lastSeen} />
              </small>
            </p>
            {!current && <ActionForm fields={{ intent: "end-session", sessionId: id }} submit="End this session" />}
          </li>
        ))}
      </ul>
      {sessions.length > 1 && <ActionForm fields={{ intent: "end-other-sessions" }} submit="End every other session" />}
    </section>
  );
}

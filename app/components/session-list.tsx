import type { shownSessions } from "~/account/account-page";
import { useTexts } from "~/document/language";
import { ActionForm, Row, Section } from "./account-action";
import { MomentLine } from "./moment";

export function SessionList({ sessions }: { sessions: ReturnType<typeof shownSessions> }) {
  const t = useTexts();
  return (
    <Section
      title={t("sessions.title")}
      action={sessions.length > 1 && <ActionForm intent="end-other-sessions" submit={t("sessions.endOthers")} />}
    >
      {sessions.map(({ id, browser, since, lastSeen, current, bound }) => (
        <Row
          key={id}
          name={
            <>
              {browser}
              {current && <strong> · {t("sessions.thisBrowser")}</strong>}
            </>
          }
          detail={
            <>
              <MomentLine of="sessions.since" {...since} />
              <MomentLine of="sessions.lastSeen" {...lastSeen} follows />
              {bound && ` · ${t("sessions.bound")}`}
            </>
          }
        >
          {!current && <ActionForm intent="end-session" sessionId={id} submit={t("sessions.end")} />}
        </Row>
      ))}
    </Section>
  );
}

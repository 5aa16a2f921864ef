import { Form } from "@remix-run/react";
import type { MouseEvent } from "react";
import type { shownSessions } from "~/account/account-page";
import type { Intent } from "~/account/actions";
import { useTexts } from "~/document/page-context";
import { ActionForm, Address, MomentLine, ProtectedAction, Row, Section, useRefusal } from "./account-rows";
import { EmailField, NameField, SubmitButton } from "./form-controls";

/** The signed-in user. If the picture cannot be loaded, the first letter is visible. */
export function Person({ name, email, pictureUrl }: { name: string | null; email: string; pictureUrl: string | null }) {
  const t = useTexts();
  return (
    <div className="person">
      <div>
        <span className="avatar" aria-hidden="true">
          {/\p{L}\p{M}*/u.exec(`${name ?? ""} ${email}`)?.[0]}
          {pictureUrl && <img src={pictureUrl} alt="" referrerPolicy="no-referrer" />}
        </span>
        <p>
          {name && <bdi className="name">{name}</bdi>}
          <Address email={email} />
        </p>
      </div>
      <Form method="post" action="/logout">
        <SubmitButton className="quiet">{t("account.logOut")}</SubmitButton>
      </Form>
    </div>
  );
}

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

/** The id of the form that changes the address. Browsers open its `<details>` for a link to it. */
export const emailForm = "change-email";

/** Without the link's own navigation: after it, React renders the page's forms anew, and closes them. */
export function openEmailForm(event: MouseEvent) {
  event.preventDefault();
  const field = document.querySelector<HTMLElement>(`#${emailForm} input[type=email]`);
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
}

export function AccountDetails({ name, email }: { name: string | null; email: string }) {
  const t = useTexts();
  return (
    <Section title={t("account.details")}>
      <NameRow name={name} />
      <Row name={t("common.email")} detail={<Address email={email} />}>
        <ProtectedAction
          id={emailForm}
          label={t("account.change")}
          how={t("account.changeEmailHow")}
          intent="change-email"
          submit={t("account.changeEmailSend")}
        >
          <ActionEmail intent="change-email" label={t("account.newEmail")} autoComplete="email" enterKeyHint="send" />
        </ProtectedAction>
      </Row>
    </Section>
  );
}

function NameRow({ name }: { name: string | null }) {
  const t = useTexts();
  const refused = useRefusal("change-name");
  return (
    <Row name={t("account.name")} detail={name && <bdi>{name}</bdi>}>
      <ProtectedAction label={t("account.change")} intent="change-name" submit={t("account.saveName")} anyAge>
        <NameField defaultValue={refused?.typed.name ?? name ?? ""} error={refused?.errors.name} />
      </ProtectedAction>
    </Row>
  );
}

export function DeleteAccount() {
  const t = useTexts();
  return (
    <Section title={t("account.deleteTitle")}>
      <Row name={t("account.deleteWarning")}>
        <ProtectedAction label={t("account.delete")} intent="delete-account" submit={t("account.deleteForGood")} danger>
          <ActionEmail intent="delete-account" label={t("account.deleteConfirm")} autoComplete="off" />
        </ProtectedAction>
      </Row>
    </Section>
  );
}

/** The email field of an action. After a refusal it has what was typed. */
function ActionEmail({ intent, ...field }: Parameters<typeof EmailField>[0] & { intent: Intent }) {
  const refused = useRefusal(intent);
  return <EmailField {...field} required defaultValue={refused?.typed.email} error={refused?.errors.email} />;
}

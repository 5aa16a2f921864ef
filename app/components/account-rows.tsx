import { Form, useActionData, useLoaderData } from "@remix-run/react";
import { type FormEvent, type ReactNode, type SyntheticEvent, useId } from "react";
import { localMomentIn } from "#server/languages/translate";
import { recentSignInMinutes } from "#server/rules";
import type { shownMoment } from "~/account/account-page";
import type { Intent, Refusal } from "~/account/actions";
import { Text, useHydrated, usePage, useTexts } from "~/document/page-context";
import { AccountField, SubmitButton } from "./form-controls";

interface SectionProps {
  title: string;
  lead?: string;
  action?: ReactNode;
  children: ReactNode;
}

export function Section({ title, lead, action, children }: SectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div className="row">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
      {lead && <p>{lead}</p>}
      <ul className="rows">{children}</ul>
    </section>
  );
}

interface RowProps {
  name: ReactNode;
  detail?: ReactNode;
  className?: string;
  hidden?: boolean;
  children?: ReactNode;
}

export function Row({ name, detail, children, ...item }: RowProps) {
  const id = useId();
  return (
    <li {...item}>
      <p>
        <span id={id}>{name}</span>
        {detail && <small className="muted">{detail}</small>}
      </p>
      {/* The buttons of several rows have the same short label. */}
      {children && (
        <fieldset className="actions" aria-labelledby={id}>
          {children}
        </fieldset>
      )}
    </li>
  );
}

type MomentLineProps = ReturnType<typeof shownMoment> & {
  /** Whether another moment precedes it on the line. */
  follows?: boolean;
  of: "sessions.since" | "sessions.lastSeen" | "passkeys.added" | "passkeys.lastUsed";
};

/** Only a script knows the visitor's time zone. */
export function MomentLine({ of, at, ago, exact, follows }: MomentLineProps) {
  const { language } = usePage();
  const title = useHydrated() ? localMomentIn(language, new Date(at)) : exact;
  return (
    <>
      {follows && " · "}
      <Text of={of} values={{ moment: ago }} part={<time dateTime={at} title={title} />} />
    </>
  );
}

/** On a narrow screen, a line ends at the `@` rather than within a name. */
export function Address({ email }: { email: string }) {
  const [local, domain] = email.split(/(?<=@)/);
  return (
    <bdi dir="ltr">
      {local}
      <wbr />
      {domain}
    </bdi>
  );
}

interface ProtectedActionProps extends ActionFormProps {
  label: string;
  how?: string;
  open?: boolean;
  /** Whether a sign-in of any age is enough. */
  anyAge?: boolean;
  after?: ReactNode;
}

export function ProtectedAction({ label, how, open = false, anyAge, after, ...form }: ProtectedActionProps) {
  const t = useTexts();
  const { signInAgain } = useLoaderData<{ signInAgain: boolean }>();
  return (
    <details open={useRefusal(form.intent) !== null || open} onToggle={focusForm}>
      <summary className={form.danger ? "button danger" : "button quiet"}>{label}</summary>
      {how && <p>{how}</p>}
      {signInAgain && !anyAge && <p className="muted">{t("account.signInAgain", { count: recentSignInMinutes })}</p>}
      <ActionForm {...form} primary={!form.danger} />
      {after}
    </details>
  );
}

export function useRefusal(intent: Intent): Refusal | null {
  const result = useActionData<Partial<Refusal>>();
  return result?.intent === intent ? (result as Refusal) : null;
}

/** Moves the focus into a form that its owner has opened. */
function focusForm({ currentTarget: details }: SyntheticEvent<HTMLDetailsElement>) {
  if (!details.open || document.activeElement !== details.firstElementChild) return;
  details.querySelector<HTMLElement>("input:not([type=hidden], [hidden]), button[type=submit]")?.focus();
}

interface ActionFormProps {
  id?: string;
  intent: Intent;
  sessionId?: string;
  submit: string;
  danger?: boolean;
  primary?: boolean;
  onSubmit?: (event: FormEvent<HTMLFormElement>) => void;
  children?: ReactNode;
}

export function ActionForm({ id, intent, sessionId, submit, danger, primary, onSubmit, children }: ActionFormProps) {
  const look = danger ? "danger" : "quiet";
  return (
    <Form id={id} method="post" action="." {...(onSubmit && { onSubmit })}>
      <input type="hidden" name="intent" value={intent} />
      <AccountField />
      {sessionId && <input type="hidden" name="sessionId" value={sessionId} />}
      {children}
      <SubmitButton {...(!primary && { className: look })} intent={intent} sessionId={sessionId}>
        {submit}
      </SubmitButton>
    </Form>
  );
}

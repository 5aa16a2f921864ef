import { type BrowserNames, browserText } from "../../browsers";
import { config } from "../../config";
import { AccountEvent } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { type AnswerTexts, answersIn, type MailTexts, mailTextsIn } from "../../languages/texts";
import type { TextKey } from "../../languages/translate";
import type { MailKind } from "../../queue/jobs";
import { providerLabel } from "../visitor/external-sign-in";
import { noticeSubjects } from "./notices";

export const eventsOnPage = 50;

/** The latest first. */
export const eventsOf = (userId: string, part: { limit?: number; offset?: number } = {}) =>
  query((em) => em.find(AccountEvent, { user: userId }, { orderBy: { at: "desc", id: "asc" }, ...part }));

/** For programs and files: without ids. */
export const plainEvent = ({ id, user, sessionKey, ...event }: AccountEvent) => event;

const waysOfSignIn = {
  password: "activity.signedInPassword",
  provider: "activity.signedInProvider",
  passkey: "activity.signedInPasskey",
} as const;

/** The subjects, to an address that has an account. */
const mailSubjects = {
  mail_password_reset: "reset.subject",
  mail_invitation: "invitation.subject",
  mail_registration: "accountExists.subject",
  mail_email_change: "accountExists.subject",
  ...noticeSubjects,
} as const satisfies Record<`mail_${MailKind}`, TextKey<MailTexts>>;

function textOf({ type, way, detail }: AccountEvent): TextKey<AnswerTexts> {
  if (type === "session.started" && way) return waysOfSignIn[way];
  return type === "password_reset.completed" && detail === "passkey" ? "activity.passkeySet" : `events.${type}`;
}

/** What happened, and who did it in which browser, in the reader's language. */
export function eventWords(event: AccountEvent, language: Language): { what: string; by: string | null } {
  const t = answersIn(language);
  const mailText = mailTextsIn(language);
  const provider = providerLabel(language) ?? mailText("common.anotherService");
  const subjectKey = mailSubjects[`mail_${event.detail as MailKind}`] as "providerLinked.subject" | undefined;
  const values = { provider, brand: config().brand.name };
  const mail = (event.actor === null && subjectKey && mailText(subjectKey, values)) || "";
  const what = t(textOf(event) as "events.mail.sent", { ...values, mail });
  const names: BrowserNames = { browser: event.browser ?? null, system: event.system ?? null };
  const by = {
    owner: () => browserText(names, language),
    operator: () => t("activity.byOperator"),
    provider: () => t("activity.byProvider", { provider }),
    none: () => null,
  }[event.actor ?? "none"]();
  return { what, by };
}

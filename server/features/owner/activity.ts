import { config } from "../../config";
import { AccountEvent } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import type { Language } from "../../languages/languages";
import { type AnswerTexts, answersIn, mailTextsIn } from "../../languages/texts";
import type { TextKey } from "../../languages/translate";
import { subjects } from "../../mail/messages";
import { providerLabel } from "../../provider/label";
import type { MailKind } from "../../queue/jobs";
import { type BrowserNames, browserText } from "../../visitor/browsers";
import { noticeSubjects, type Subject } from "./notices";

export const eventsOnPage = 50;

interface PartOfHistory {
  limit?: number;
  offset?: number;
  /** Whether mails that were sent are among the events. */
  sentMails?: boolean;
}

/** The latest first. */
export const eventsOf = (userId: string, { sentMails = true, ...part }: PartOfHistory = {}) => {
  const where = { user: userId, ...(!sentMails && { type: { $ne: "mail.sent" as const } }) };
  return query((em) => em.find(AccountEvent, where, { orderBy: { at: "desc", id: "asc" }, ...part }));
};

/** For programs and files: without ids. */
export const plainEvent = ({ id, user, sessionKey, ...event }: AccountEvent) => event;

/** What happened, and who did it in which browser, in the reader's language. */
export function eventWords(event: AccountEvent, language: Language): { what: string; by: string | null } {
  const t = answersIn(language);
  const mailText = mailTextsIn(language);
  const provider = providerLabel(language) ?? mailText("common.anotherService");
  const values = { provider, brand: config().brand.name };
  const mail = unbroken((event.actor === null && mailSubjects[`mail_${event.detail}`]?.(mailText, values)) || "");
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

/** The subject of a mail has a plain hyphen, at which a line of a page could end. */
const unbroken = (subject: string) => subject.replace(/(?<=\be)-(?=mail)/gi, "\u2011");

/** The subjects, to an address that has an account. */
const mailSubjects: Partial<Record<string, Subject>> = {
  ...subjects,
  ...noticeSubjects,
} satisfies Record<`mail_${MailKind}`, Subject>;

const waysOfSignIn = {
  password: "activity.signedInPassword",
  provider: "activity.signedInProvider",
  passkey: "activity.signedInPasskey",
} as const;

function textOf({ type, way, detail }: AccountEvent): TextKey<AnswerTexts> {
  if (type === "session.started" && way) return waysOfSignIn[way];
  return type === "password_reset.completed" && detail === "passkey" ? "activity.passkeySet" : `events.${type}`;
}

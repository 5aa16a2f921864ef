import { config } from "../config";
import { type Language, languages } from "../languages/languages";
import { mailTextsIn } from "../languages/texts";
import type { Message } from "../mail-services/service";
import { linkMinutes, mailtoUrl } from "../rules";
import { aside, button as buttonHtml, escapeHtml, html, paragraph, smallLink } from "./layout";

/** In English, like the command line, because an operator reads it. */
export function testMail(): Message {
  const say = `This mail shows that Latchkey at ${config().appUrl} can send mails to this address.`;
  return write("en", "Test mail", [{ say }]);
}

/** The ways into an account without its password: the provider's label, and how many passkeys, which a reset keeps. */
interface OtherWaysIn {
  provider: string | null;
  passkeys: number;
}

export function resetMail(
  language: Language,
  email: string,
  token: string,
  { provider, passkeys }: OtherWaysIn,
): Message {
  const t = mailTextsIn(language);
  const button = { label: t("reset.button"), url: resetLink(email, token) };
  const others = [
    ...(provider === null ? [] : [{ say: t("reset.provider", { provider }) }]),
    ...(passkeys > 0 ? [{ say: t("reset.passkeySignIn") }, { say: t("reset.passkeys", { count: passkeys }) }] : []),
  ];
  const subject = subjects.mail_password_reset(t);
  return write(language, subject, [{ say: t("reset.lead") }, button, expiry(t), ...others, ignore(t)]);
}

export function registrationMail(language: Language, email: string, token: string, returnTo?: string): Message {
  const t = mailTextsIn(language);
  const parameters = { email, token, ...(returnTo && { return_to: returnTo }) };
  const button = { label: t("registration.button"), url: page("/register/complete", parameters) };
  return write(language, t("registration.subject"), [{ say: t("registration.lead") }, button, expiry(t), ignore(t)]);
}

export function newAccountMail(language: Language, email: string, way: { token: string } | { provider: string }) {
  const t = mailTextsIn(language);
  const subject = subjects.mail_invitation(t);
  const what = { say: t("newAccount.what", { email }) };
  if ("provider" in way) {
    const logIn = { label: t("common.logIn"), url: page("/login") };
    return write(language, subject, [what, { say: t("newAccount.signIn", way) }, logIn]);
  }
  const choose = { label: t("registration.button"), url: resetLink(email, way.token) };
  const another = { label: t("newAccount.another"), url: page("/forgot-password") };
  const parts = [what, { say: t("newAccount.lead") }, choose, expiry(t), { say: t("newAccount.late") }, another];
  return write(language, subject, parts);
}

export const resetLink = (email: string, token: string) => page("/reset-password", { email, token });

export function invitedMail(language: Language, email: string, { token, days }: { token: string; days: number }) {
  const t = mailTextsIn(language);
  const expires = { small: t("invited.expiry", { count: days }) };
  const accept = { label: t("invited.button"), url: invitedLink(email, token) };
  const what = { say: t("invited.what", { email, brand: config().brand.name }) };
  return write(language, subjects.mail_invited(t), [what, accept, expires, { small: t("invited.ignore") }]);
}

/** Where an invitation is accepted. */
export const invitedLink = (email: string, token: string) =>
  config().passwords.on ? page("/register/complete", { email, token }) : page("/login", { notice: "invited" });

export const accountExistsMail = (language: Language, returnTo?: string): Message =>
  existing(language, ["accountExists.what", "accountExists.logInHere"], returnTo);

/** To an address with an account, when the owner of another account asked for this address. */
export const addressTakenMail = (language: Language): Message =>
  existing(language, ["addressTaken.what", "addressTaken.free"]);

type Existing = "accountExists.what" | "accountExists.logInHere" | "addressTaken.what" | "addressTaken.free";

function existing(language: Language, [what, how]: [Existing, Existing], returnTo?: string): Message {
  const t = mailTextsIn(language);
  return write(language, subjects.mail_registration(t), [
    { say: t(what) },
    { say: t(how) },
    { label: t("common.logIn"), url: page("/login", returnTo ? { return_to: returnTo } : {}) },
    ...(config().passwords.on ? [{ say: t("accountExists.resetHere") }, resetHere(t)] : []),
    ignore(t),
  ]);
}

/** The subjects of mails to an address that has an account: the account's history shows them, too. */
export const subjects = {
  mail_password_reset: (t: Texts) => t("reset.subject"),
  mail_invitation: (t: Texts) => t("newAccount.subject", { brand: config().brand.name }),
  mail_invited: (t: Texts) => t("invited.subject"),
  mail_registration: (t: Texts) => t("accountExists.subject"),
  mail_email_change: (t: Texts): string => subjects.mail_registration(t),
};

/** A part of a mail: a sentence, a small one, or a link with the label that its button has in HTML. */
export type Part = { say: string } | { small: string } | { label: string; url: string };

type Texts = ReturnType<typeof mailTextsIn>;

export const resetHere = (t: Texts): Part => ({ label: t("common.resetPassword"), url: page("/forgot-password") });

const ignore = (t: Texts): Part => ({ small: t("common.ignore") });

/** @param oldEmail the present address of the account */
export function emailChangeMail(language: Language, email: string, token: string, oldEmail: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("emailChange.subject"), [
    { say: t("emailChange.what", { oldEmail }) },
    { say: t("emailChange.lead") },
    { label: t("emailChange.button"), url: page("/account/email", { email, token }) },
    expiry(t),
    { small: t("emailChange.careful", { oldEmail }) },
  ]);
}

export function write(language: Language, subject: string, content: Part[]): Message {
  const { name, colors, supportEmail } = config().brand;
  const parts = [...content, { small: mailTextsIn(language)("common.sentBy", { brand: name }) }];
  const text = parts.map((part) => ("say" in part ? part.say : "small" in part ? part.small : part.url));
  const footer = footerOf(language);
  if (footer.lines.length > 0) text.push(`-- \n${footer.lines.join("\n")}`); // RFC 3676, section 4.3
  const first = parts.find((part) => "url" in part); // the others are links: one step is the next one
  const blocks = parts.map((part) => {
    if ("say" in part) return paragraph(escapeHtml(part.say));
    if ("small" in part) return aside(escapeHtml(part.small));
    const label = escapeHtml(part.label);
    return part === first ? buttonHtml(label, part.url, colors) : paragraph(smallLink(label, part.url));
  });
  const document = { name, colors, lang: language, dir: languages[language].direction, footer: footer.blocks };
  const body = { text: `${text.join("\n\n")}\n`, html: html(subject, blocks, document) };
  return { subject, ...body, language, replyTo: supportEmail };
}

function footerOf(language: Language): { lines: string[]; blocks: string[] } {
  const { supportEmail, termsUrl, privacyUrl } = config().brand;
  const t = mailTextsIn(language);
  const links: [label: string, url: string][] = [];
  if (termsUrl) links.push([t("common.terms"), termsUrl]);
  if (privacyUrl) links.push([t("common.privacy"), privacyUrl]);
  const help = supportEmail ? [t("common.help", { address: supportEmail })] : [];
  const address = supportEmail && smallLink(escapeHtml(supportEmail), mailtoUrl(supportEmail));
  return {
    lines: [...help, ...links.map(([label, url]) => `${label}: ${url}`)],
    blocks: [
      ...(address ? [t("common.help", { address })] : []),
      ...links.map(([label, url]) => smallLink(escapeHtml(label), url)),
    ],
  };
}

export const page = (path: string, parameters: Record<string, string> = {}) =>
  `${config().appUrl}${path}${Object.keys(parameters).length > 0 ? `?${new URLSearchParams(parameters)}` : ""}`;

const expiry = (t: Texts): Part => ({ small: t("common.expiry", { count: linkMinutes }) });

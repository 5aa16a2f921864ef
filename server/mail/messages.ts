import { brandColors, defaultColor } from "../brand-colors";
import { config } from "../config";
import { type Language, languages } from "../languages/languages";
import { mailTextsIn } from "../languages/texts";
import { momentIn } from "../languages/translate";
import { linkLifetimeMinutes } from "../rules";
import { aside, button, escapeHtml, html, paragraph, smallLink } from "./layout";
import type { Message } from "./mail";

function link(appUrl: string, path: string, parameters: Record<string, string>): string {
  return `${appUrl}${path}?${new URLSearchParams(parameters)}`;
}

/** The link that resets the password of an account. */
export const resetLink = (appUrl: string, email: string, token: string) =>
  link(appUrl, "/reset-password", { email, token });

/** A part of a mail: a sentence, a small one, or a link with the label that its button has in HTML. */
type Part = { say: string } | { small: string } | { label: string; url: string };

/** Where the reader finds help, and the terms: as lines of text and as HTML. */
function footerOf(language: Language): { lines: string[]; blocks: string[] } {
  const { supportEmail, termsUrl, privacyUrl } = config().brand;
  const t = mailTextsIn(language);
  const links: [label: string, url: string][] = [];
  if (termsUrl) links.push([t("common.terms"), termsUrl]);
  if (privacyUrl) links.push([t("common.privacy"), privacyUrl]);
  const help = supportEmail ? [t("common.help", { address: supportEmail })] : [];
  return {
    lines: [...help, ...links.map(([label, url]) => `${label}: ${url}`)],
    blocks: [...help.map(escapeHtml), ...links.map(([label, url]) => smallLink(escapeHtml(label), url))],
  };
}

function write(language: Language, subject: string, content: Part[]): Message {
  const { name, color } = config().brand;
  const parts = [...content, { small: mailTextsIn(language)("common.sentBy", { brand: name }) }];
  const text = parts.map((part) => ("say" in part ? part.say : "small" in part ? part.small : part.url));
  const colors = brandColors(color ?? defaultColor);
  const footer = footerOf(language);
  if (footer.lines.length > 0) text.push(`-- \n${footer.lines.join("\n")}`); // RFC 3676, section 4.3
  const blocks = parts.map((part) => {
    if ("say" in part) return paragraph(escapeHtml(part.say));
    return "small" in part ? aside(escapeHtml(part.small)) : button(escapeHtml(part.label), part.url, colors);
  });
  const document = { name, colors, lang: language, dir: languages[language].direction, footer: footer.blocks };
  return { subject, text: `${text.join("\n\n")}\n`, html: html(subject, blocks, document) };
}

/**
 * What an owner does who did not do this: reset the password, which ends every session, then open the account page.
 *
 * @param sentence why to open the account page
 */
function resetThenAccount(language: Language, appUrl: string, sentence: string): Part[] {
  const t = mailTextsIn(language);
  return [
    { label: t("common.resetPassword"), url: `${appUrl}/forgot-password` },
    { say: sentence },
    { label: t("common.yourAccount"), url: `${appUrl}/dashboard` },
  ];
}

/** In English as the command line is: an operator reads it. */
export const testMail = (appUrl: string) =>
  write("en", "Test mail", [{ say: `This mail shows that Latchkey at ${appUrl} can send mails to this address.` }]);

export function resetMail(language: Language, appUrl: string, email: string, token: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("reset.subject"), [
    { say: t("reset.lead") },
    { label: t("reset.button"), url: resetLink(appUrl, email, token) },
    { small: t("common.expiry", { count: linkLifetimeMinutes }) },
    { small: t("common.ignore") },
  ]);
}

export function registrationMail(
  language: Language,
  appUrl: string,
  email: string,
  token: string,
  returnTo?: string,
): Message {
  const t = mailTextsIn(language);
  const parameters = { email, token, ...(returnTo && { return_to: returnTo }) };
  return write(language, t("registration.subject"), [
    { say: t("registration.lead") },
    { label: t("registration.button"), url: link(appUrl, "/register/complete", parameters) },
    { small: t("common.expiry", { count: linkLifetimeMinutes }) },
    { small: t("common.ignore") },
  ]);
}

export function accountExistsMail(language: Language, appUrl: string, returnTo?: string): Message {
  const t = mailTextsIn(language);
  const login = returnTo ? link(appUrl, "/login", { return_to: returnTo }) : `${appUrl}/login`;
  return write(language, t("accountExists.subject"), [
    { say: t("accountExists.what") },
    { say: t("accountExists.logInHere") },
    { label: t("common.logIn"), url: login },
    { say: t("accountExists.resetHere") },
    { label: t("common.resetPassword"), url: `${appUrl}/forgot-password` },
    { small: t("common.ignore") },
  ]);
}

export function passwordChangedMail(language: Language, appUrl: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("passwordChanged.subject"), [
    { say: t("passwordChanged.what") },
    { say: t("passwordChanged.act") },
    { label: t("common.resetPassword"), url: `${appUrl}/forgot-password` },
  ]);
}

export function passwordChangedByOwnerMail(language: Language, appUrl: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("passwordChanged.subject"), [
    { say: t("passwordChanged.onPage") },
    { say: t("passwordChanged.act") },
    ...resetThenAccount(language, appUrl, t("newSignIn.check")),
  ]);
}

/** @param oldEmail the present address of the account */
export function emailChangeMail(
  language: Language,
  appUrl: string,
  email: string,
  token: string,
  oldEmail: string,
): Message {
  const t = mailTextsIn(language);
  return write(language, t("emailChange.subject"), [
    { say: t("emailChange.what", { oldEmail }) },
    { say: t("emailChange.lead") },
    { label: t("emailChange.button"), url: link(appUrl, "/account/email", { email, token }) },
    { small: t("common.expiry", { count: linkLifetimeMinutes }) },
    { small: t("emailChange.careful", { oldEmail }) },
  ]);
}

/** To an address that has an account, when the owner of another account asked to change to it. */
export function addressTakenMail(language: Language, appUrl: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("accountExists.subject"), [
    { say: t("addressTaken.what") },
    { say: t("addressTaken.free") },
    { label: t("common.logIn"), url: `${appUrl}/login` },
    { say: t("accountExists.resetHere") },
    { label: t("common.resetPassword"), url: `${appUrl}/forgot-password` },
    { small: t("common.ignore") },
  ]);
}

export function emailChangingMail(language: Language, appUrl: string, newEmail: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("emailChanging.subject"), [
    { say: t("emailChanging.what", { newEmail }) },
    { say: t("emailChanging.act") },
    ...resetThenAccount(language, appUrl, t("newSignIn.check")),
  ]);
}

interface ChangedEmail {
  oldEmail: string;
  newEmail: string;
}

/** To the old address. A reset mail goes to the new one now, so a reset is no way back. */
export function emailChangedFromMail(
  language: Language,
  appUrl: string,
  { oldEmail, newEmail }: ChangedEmail,
): Message {
  const t = mailTextsIn(language);
  return write(language, t("emailChanged.subject"), [
    { say: t("emailChanged.what", { oldEmail, newEmail }) },
    { say: t("emailChanged.changeBack", { newEmail }) },
    { label: t("common.yourAccount"), url: `${appUrl}/dashboard` },
    { say: t("emailChanged.lost") },
  ]);
}

/**
 * To the new address. An owner who confirms somebody else's change by mistake gets that account, and with it the other
 * person's external sign-in.
 */
export function emailChangedToMail(language: Language, appUrl: string, { oldEmail, newEmail }: ChangedEmail): Message {
  const t = mailTextsIn(language);
  return write(language, t("emailChanged.subject"), [
    { say: t("emailChanged.what", { oldEmail, newEmail }) },
    { say: t("emailChanged.secureMailbox") },
    ...resetThenAccount(language, appUrl, t("newSignIn.check")),
  ]);
}

export function newSignInMail(language: Language, appUrl: string, browser: string, at: Date): Message {
  const t = mailTextsIn(language);
  return write(language, t("newSignIn.subject"), [
    { say: t("newSignIn.lead") },
    { say: t("newSignIn.what", { browser, moment: momentIn(language, at) }) },
    { say: t("newSignIn.act") },
    ...resetThenAccount(language, appUrl, t("newSignIn.check")),
  ]);
}

export function providerLinkedMail(language: Language, appUrl: string, provider: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("providerLinked.subject", { provider }), [
    { say: t("providerLinked.what", { provider }) },
    { say: t("providerLinked.act") },
    ...resetThenAccount(language, appUrl, t("providerLinked.remove", { provider })),
  ]);
}

export function providerUnlinkedMail(language: Language, appUrl: string, provider: string): Message {
  const t = mailTextsIn(language);
  return write(language, t("providerUnlinked.subject", { provider }), [
    { say: t("providerUnlinked.what", { provider }) },
    { say: t("providerUnlinked.act") },
    ...resetThenAccount(language, appUrl, t("providerUnlinked.again", { provider })),
  ]);
}

/** @param appUrl `null` when no new account can be created */
export function accountDeletedMail(language: Language, appUrl: string | null): Message {
  const t = mailTextsIn(language);
  const again =
    appUrl === null
      ? []
      : [{ say: t("accountDeleted.again") }, { label: t("accountDeleted.button"), url: `${appUrl}/register` }];
  return write(language, t("accountDeleted.subject"), [
    { say: t("accountDeleted.what") },
    { say: t("accountDeleted.act") },
    ...again,
  ]);
}

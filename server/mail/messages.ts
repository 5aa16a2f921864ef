import { brandColors, defaultColor } from "../brand-colors";
import { config } from "../config";
import { type Language, languages } from "../languages/languages";
import { mailTextsIn } from "../languages/texts";
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
export type Part = { say: string } | { small: string } | { label: string; url: string };

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

/** A mail in the brand's layout. */
export function write(language: Language, subject: string, content: Part[]): Message {
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

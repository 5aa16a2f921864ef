import { linkLifetimeMinutes } from "../rules";
import { aside, button, escapeHtml, html, paragraph } from "./layout";
import type { Message } from "./mail";

function link(appUrl: string, path: string, parameters: { email: string; token: string }): string {
  return `${appUrl}${path}?${new URLSearchParams(parameters)}`;
}

/** The link that resets the password of an account. */
export const resetLink = (appUrl: string, email: string, token: string) =>
  link(appUrl, "/reset-password", { email, token });

const ignore = "If you did not ask for this, you can ignore this mail.";
const expiry = `This link expires in ${linkLifetimeMinutes} minutes.`;

export function resetMail(appUrl: string, email: string, token: string): Message {
  const url = resetLink(appUrl, email, token);
  const subject = "Reset your password";
  return {
    subject,
    text: `Reset your password:\n\n${url}\n\n${expiry}\n\n${ignore}\n`,
    html: html(subject, [
      paragraph("Reset your password:"),
      button("Choose a new password", url),
      aside(expiry),
      aside(ignore),
    ]),
  };
}

export function registrationMail(appUrl: string, email: string, token: string): Message {
  const url = link(appUrl, "/register/complete", { email, token });
  const subject = "Finish creating your account";
  return {
    subject,
    text: `Finish creating your account:\n\n${url}\n\n${expiry}\n\n${ignore}\n`,
    html: html(subject, [
      paragraph("Finish creating your account:"),
      button("Choose a password", url),
      aside(expiry),
      aside(ignore),
    ]),
  };
}

export function accountExistsMail(appUrl: string): Message {
  const login = `${appUrl}/login`;
  const reset = `${appUrl}/forgot-password`;
  const what = "Somebody, probably you, asked to create an account with this address. You already have one.";
  const subject = "You already have an account";
  return {
    subject,
    text: `${what}\n\nLog in:\n\n${login}\n\nReset your password:\n\n${reset}\n\n${ignore}\n`,
    html: html(subject, [
      paragraph(what),
      button("Log in", login),
      paragraph("Forgot the password?"),
      button("Reset your password", reset),
      aside(ignore),
    ]),
  };
}

export function passwordChangedMail(appUrl: string): Message {
  const reset = `${appUrl}/forgot-password`;
  const what = "The password of your account was changed, and every session was signed out.";
  const act = "If it was not you, reset your password now:";
  const subject = "Your password was changed";
  return {
    subject,
    text: `${what}\n\n${act}\n\n${reset}\n`,
    html: html(subject, [paragraph(what), paragraph(act), button("Reset your password", reset)]),
  };
}

const utc = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });

export function newSignInMail(appUrl: string, browser: string, at: Date): Message {
  const reset = `${appUrl}/forgot-password`;
  const dashboard = `${appUrl}/dashboard`;
  const subject = "New sign-in to your account";
  const told =
    "Somebody, probably you, signed in to your account with its password, in a browser that it did not know:";
  const what = `${browser}, ${utc.format(at)} UTC`;
  const act = "If it was not you, reset your password, which signs every browser out:";
  const check = "Then log in and disconnect every external sign-in that you did not connect yourself:";
  return {
    subject,
    text: `${told}\n\n${what}\n\n${act}\n\n${reset}\n\n${check}\n\n${dashboard}\n`,
    html: html(subject, [
      paragraph(told),
      paragraph(escapeHtml(what)),
      paragraph(act),
      button("Reset your password", reset),
      paragraph(check),
      button("Your account", dashboard),
    ]),
  };
}

export function providerLinkedMail(appUrl: string, provider: string): Message {
  const dashboard = `${appUrl}/dashboard`;
  const reset = `${appUrl}/forgot-password`;
  const what = `${provider} can now be used to sign in to your account.`;
  const act = "If it was not you, reset your password first. That signs every browser out:";
  const remove = `Then log in and disconnect ${provider} on your account page. That signs out whoever used it in the meantime, and ${provider} cannot be connected again without you:`;
  const subject = `Sign-in with ${provider} was added`;
  return {
    subject,
    text: `${what}\n\n${act}\n\n${reset}\n\n${remove}\n\n${dashboard}\n`,
    html: html(subject, [
      paragraph(what),
      paragraph(act),
      button("Reset your password", reset),
      paragraph(remove),
      button("Your account", dashboard),
    ]),
  };
}

export function providerUnlinkedMail(appUrl: string, provider: string): Message {
  const dashboard = `${appUrl}/dashboard`;
  const reset = `${appUrl}/forgot-password`;
  const what = `${provider} can no longer be used to sign in to your account, and every other browser was signed out.`;
  const act = "If it was not you, reset your password. That signs every browser out:";
  const again = `Then log in. You can connect ${provider} again on your account page:`;
  const subject = `Sign-in with ${provider} was removed`;
  return {
    subject,
    text: `${what}\n\n${act}\n\n${reset}\n\n${again}\n\n${dashboard}\n`,
    html: html(subject, [
      paragraph(what),
      paragraph(act),
      button("Reset your password", reset),
      paragraph(again),
      button("Your account", dashboard),
    ]),
  };
}

export function accountDeletedMail(appUrl: string): Message {
  const register = `${appUrl}/register`;
  const what = "Your account was deleted, with everything in it. It cannot be brought back.";
  const act =
    "If it was not you, somebody could sign in to your account: change the password of your mailbox and of every account that shared its password. You can create a new account here:";
  const subject = "Your account was deleted";
  return {
    subject,
    text: `${what}\n\n${act}\n\n${register}\n`,
    html: html(subject, [paragraph(what), paragraph(act), button("Create a new account", register)]),
  };
}

/** The mail of `latchkey doctor --mail`. */
export function testMail(appUrl: string): Message {
  const what = `This mail shows that Latchkey at ${appUrl} can send mails to this address.`;
  const subject = "Test mail";
  return { subject, text: `${what}\n`, html: html(subject, [paragraph(escapeHtml(what))]) };
}

import { linkLifetimeMinutes } from "../rules";
import { aside, button, escapeHtml, html, paragraph } from "./layout";
import type { Message } from "./mail";

function link(appUrl: string, path: string, parameters: { email: string; token: string }): string {
  return `${appUrl}${path}?${new URLSearchParams(parameters)}`;
}

const ignore = "If you did not ask for this, you can ignore this mail.";
const expiry = `This link expires in ${linkLifetimeMinutes} minutes.`;

export function resetMail(appUrl: string, email: string, token: string): Message {
  const url = link(appUrl, "/reset-password", { email, token });
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

export function passwordChangedByOwnerMail(appUrl: string): Message {
  const reset = `${appUrl}/forgot-password`;
  const dashboard = `${appUrl}/dashboard`;
  const what = "The password of your account was changed on its account page, and every other browser was signed out.";
  const act = "If it was not you, reset your password now. That signs every browser out:";
  const check = "Then log in and disconnect every external sign-in that you did not connect yourself:";
  const subject = "Your password was changed";
  return {
    subject,
    text: `${what}\n\n${act}\n\n${reset}\n\n${check}\n\n${dashboard}\n`,
    html: html(subject, [
      paragraph(what),
      paragraph(act),
      button("Reset your password", reset),
      paragraph(check),
      button("Your account", dashboard),
    ]),
  };
}

export function emailChangeMail(appUrl: string, email: string, token: string): Message {
  const url = link(appUrl, "/account/email", { email, token });
  const subject = "Confirm your new email address";
  const careful = "If you did not ask for this, do not confirm it: somebody else’s account would get your address.";
  return {
    subject,
    text: `Confirm your new email address:\n\n${url}\n\n${expiry}\n\n${careful}\n`,
    html: html(subject, [
      paragraph("Confirm your new email address:"),
      button("Confirm the address", url),
      aside(expiry),
      aside(careful),
    ]),
  };
}

export function addressTakenMail(appUrl: string): Message {
  const login = `${appUrl}/login`;
  const reset = `${appUrl}/forgot-password`;
  const what =
    "Somebody, probably you, asked to use this address for another account. You already have an account with it, so nothing was changed.";
  const free =
    "To use the address for the other account, log in to this one first, and delete it or change its address:";
  const subject = "You already have an account";
  return {
    subject,
    text: `${what}\n\n${free}\n\n${login}\n\nReset your password:\n\n${reset}\n\n${ignore}\n`,
    html: html(subject, [
      paragraph(what),
      paragraph(free),
      button("Log in", login),
      paragraph("Forgot the password?"),
      button("Reset your password", reset),
      aside(ignore),
    ]),
  };
}

export function emailChangingMail(appUrl: string, newEmail: string): Message {
  const reset = `${appUrl}/forgot-password`;
  const dashboard = `${appUrl}/dashboard`;
  const what = `Somebody, probably you, asked to change the email address of your account to ${newEmail}. It changes when that address is confirmed with a link that was mailed to it.`;
  const act = "If it was not you, reset your password now. That stops the change and signs every browser out:";
  const check = "Then log in and disconnect every external sign-in that you did not connect yourself:";
  const subject = "Your email address is being changed";
  return {
    subject,
    text: `${what}\n\n${act}\n\n${reset}\n\n${check}\n\n${dashboard}\n`,
    html: html(subject, [
      paragraph(escapeHtml(what)),
      paragraph(act),
      button("Reset your password", reset),
      paragraph(check),
      button("Your account", dashboard),
    ]),
  };
}

interface EmailChanged {
  oldEmail: string;
  newEmail: string;
  /** Whether the mail goes to the new address. */
  isNew: boolean;
}

/** The reset mail of the account goes to the new address now, so that a reset from the old one is no way back. */
export function emailChangedMail(appUrl: string, { oldEmail, newEmail, isNew }: EmailChanged): Message {
  const reset = `${appUrl}/forgot-password`;
  const dashboard = `${appUrl}/dashboard`;
  const what = `The email address of your account was changed from ${oldEmail} to ${newEmail}, and every other browser was signed out. You log in with ${newEmail} now.`;
  const subject = "Your email address was changed";
  const [act, label, url] = isNew
    ? ([
        "If it was not you, somebody can read your mail: change the password of your mailbox, and then reset the password of this account:",
        "Reset your password",
        reset,
      ] as const)
    : ([
        `If it was not you, log in at once, with ${newEmail} and your password or with an external sign-in, and change the address back. That signs every other browser out. Then change your password:`,
        "Your account",
        dashboard,
      ] as const);
  const last = isNew ? [] : ["If you cannot log in, tell the people who run this service."];
  return {
    subject,
    text: `${[what, act, url, ...last].join("\n\n")}\n`,
    html: html(subject, [
      paragraph(escapeHtml(what)),
      paragraph(escapeHtml(act)),
      button(label, url),
      ...last.map(aside),
    ]),
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

import { linkLifetimeMinutes } from "../rules";
import type { Message } from "./mail";

function link(appUrl: string, path: string, parameters: { email: string; token: string }): string {
  return `${appUrl}${path}?${new URLSearchParams(parameters)}`;
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (character) => escapes[character] ?? "");

// Inline styles with the pages' colours: many mail clients ignore style sheets.
const ink = "#1c2422";
const muted = "#55615d";
const accent = "#0b6355";
const font = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";

const paragraph = (text: string) => `<p style="margin:0 0 16px">${text}</p>`;

const aside = (text: string) => `<p style="margin:0 0 8px;font-size:14px;color:${muted}">${text}</p>`;

/** A button, and its URL as text for clients that do not show buttons. */
function button(label: string, url: string): string {
  const href = escapeHtml(url);
  return `<p style="margin:0 0 16px"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:8px;background-color:${accent};color:#ffffff;font-weight:600;text-decoration:none">${label}</a></p>
<p style="margin:0 0 16px;font-size:14px;word-break:break-all"><a href="${href}" style="color:${accent}">${href}</a></p>`;
}

function html(subject: string, blocks: string[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light only">
<title>${subject}</title>
</head>
<body style="margin:0;padding:0;background-color:#f3f5f4">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f3f5f4">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:480px;${font};font-size:16px;line-height:1.5;color:${ink};text-align:left">
<tr><td style="padding:0 4px 16px;font-weight:600;color:${accent}">Latchkey</td></tr>
<tr><td bgcolor="#ffffff" style="padding:28px 28px 12px;border:1px solid #dfe4e2;border-radius:12px;background-color:#ffffff">
${blocks.join("\n")}
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
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

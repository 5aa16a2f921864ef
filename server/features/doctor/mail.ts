import { parseAddress } from "../../accounts/email-address";
import type { Config } from "../../config";
import { MailRefused } from "../../errors";
import { CallError } from "../../http/json-client";
import { errorFields } from "../../log";
import { sendMail, verifyMailer } from "../../mail/mailer";
import { testMail } from "../../mail/messages";
import type { MailServiceConfig, SmtpConfig } from "../../settings/mail";
import { type Check, checksOf } from "./check";

const { ok, warn, fail } = checksOf("mail");
const testChecks = checksOf("test mail");

interface Trouble {
  found: string;
  mend: string;
}

/** What a code of the SMTP driver means. */
function smtpTrouble(code: string, { server }: SmtpConfig): Trouble {
  const at = `${server.host}:${server.port}`;
  if (/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH/.test(code)) {
    return {
      found: `${at} refuses the connection`,
      mend: "correct host and port in SMTP_URL, or start the mail server",
    };
  }
  if (/ENOTFOUND|EDNS|EAI_AGAIN/.test(code)) {
    return { found: `the host ${server.host} cannot be found`, mend: "correct the host in SMTP_URL, or the DNS" };
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code)) {
    return { found: `${at} does not start with TLS`, mend: "use smtp:// (STARTTLS, port 587) in SMTP_URL" };
  }
  if (code.startsWith("ETLS")) {
    return {
      found: `${at} does not offer STARTTLS`,
      mend: "use smtps:// with port 465 in SMTP_URL, or switch STARTTLS on in the mail server",
    };
  }
  if (code.startsWith("ETIMEDOUT") || code.startsWith("ECONNECTION")) {
    return {
      found: `${at} did not answer in time`,
      mend: server.implicitTls
        ? "open the port in the firewall, or use smtp:// with port 587 in SMTP_URL"
        : "open the port in the firewall; a port 465 needs smtps:// in SMTP_URL",
    };
  }
  if (code.startsWith("EAUTH") || /53[0458]$/.test(code)) {
    return {
      found: `${at} refuses the login (${code})`,
      mend: "correct user and password in SMTP_URL; both are percent-encoded there",
    };
  }
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/.test(code)) {
    return {
      found: `the certificate of ${at} is not valid for ${server.host} (${code})`,
      mend: "use the name of the certificate in SMTP_URL; NODE_EXTRA_CA_CERTS=FILE trusts an authority of your own",
    };
  }
  return { found: `${at} does not take mails (${code})`, mend: "look the code up in the log of the mail server" };
}

function serviceTrouble(error: unknown, { driver }: MailServiceConfig): Trouble {
  const service = driver === "resend" ? "Resend" : "Postmark";
  const setting = driver === "resend" ? "RESEND_API_KEY" : "POSTMARK_SERVER_TOKEN";
  const { reason, code } = error instanceof CallError ? error : { reason: errorFields(error).error, code: undefined };
  const what = code === undefined ? reason : `${reason}, ${code}`;
  if (/^status 40[013]/.test(reason)) {
    return { found: `${service} refuses the key (${what})`, mend: `correct ${setting}: the service's website has it` };
  }
  if (reason === "unreachable" || reason === "timeout") {
    return { found: `${service} cannot be reached (${what})`, mend: "allow outgoing https, or correct MAIL_API_URL" };
  }
  return { found: `${service} answered: ${what}`, mend: "correct MAIL_API_URL, or see the service's status page" };
}

function troubleOf(error: unknown, mail: SmtpConfig | MailServiceConfig): Trouble {
  return mail.driver === "smtp"
    ? smtpTrouble(String(errorFields(error).code ?? ""), mail)
    : serviceTrouble(error, mail);
}

/** Whether the mail service would take a mail. */
export async function checkMail({ mail, production }: Config): Promise<Check> {
  if (mail.driver === "log") {
    if (!production) return ok("log: mails are written to standard output");
    return warn(
      "log: mails are written to standard output, with their links",
      "set MAIL_DRIVER to smtp, resend or postmark",
    );
  }
  const address = mail.driver === "smtp" ? `${mail.server.host}:${mail.server.port}` : null;
  try {
    await verifyMailer();
    if (mail.driver === "smtp") return ok(`smtp: ${address} ${mail.server.login ? "accepts the login" : "answers"}`);
    return ok(`${mail.driver}: the key is accepted`);
  } catch (error) {
    const { found, mend } = troubleOf(error, mail);
    return fail(found, mend);
  }
}

/** Sends a test mail. */
export async function checkTestMail({ mail, appUrl }: Config, typedAddress: string): Promise<Check> {
  const address = parseAddress(typedAddress);
  if (address === null) return testChecks.fail("the address is none", "give --mail an address such as you@example.org");
  if (mail.driver === "log") return testChecks.warn("the driver log sends none", "set MAIL_DRIVER first");
  try {
    await sendMail(address, testMail(appUrl));
    return testChecks.ok(`the mail service accepted the mail to ${address}`);
  } catch (error) {
    if (error instanceof MailRefused) {
      const what = error.reason === "recipient_refused" ? "the recipient" : "the message or its sender";
      return testChecks.fail(
        `the mail service refuses ${what}`,
        "check the address, and whether MAIL_FROM may send there",
      );
    }
    const { found, mend } = troubleOf(error, mail);
    return testChecks.fail(found, mend);
  }
}

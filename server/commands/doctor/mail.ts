import { parseAddress } from "../../accounts/users/email-address";
import type { Config, MailServiceConfig, SmtpConfig } from "../../config";
import { MailRefused } from "../../errors";
import { errorFields } from "../../log";
import { sendMail, verifyMailer } from "../../mail/mailer";
import { testMail } from "../../mail/messages";
import { parseSender } from "../../mail-services/service";
import { deliveryEventsOf, mailDrivers, mailServices } from "../../mail-services/services";
import { either } from "../../settings/formats";
import { type Check, causeOf, checksOf, type Finding, type Findings, findingOf } from "./check";

const { ok, warn, fail } = checksOf("mail");
const eventChecks = checksOf("mail events");
const testChecks = checksOf("test mail");

/** Readers see both names. */
export function checkSender({ mail, brand }: Config): Check[] {
  const { name } = parseSender(mail.from);
  if (name === "" || name === brand.name) return [];
  const found = `mails come from "${name}", and say that they are of "${brand.name}"`;
  return [warn(found, "give MAIL_FROM and BRAND_NAME the same name")];
}

export async function checkMail({ mail, production }: Config): Promise<Check> {
  if (mail.driver === "log") {
    if (!production) return ok("log: mails are written to standard output");
    const found = "log: mails are written to standard output, with their links";
    return warn(found, `set MAIL_DRIVER to ${either(mailDrivers)}`);
  }
  try {
    await verifyMailer();
    if (mail.driver !== "smtp") return ok(`${mail.driver}: the key is accepted`);
    const { host, port, login } = mail.server;
    return ok(`smtp: ${host}:${port} ${login ? "accepts the login" : "answers"}`);
  } catch (error) {
    return fail(...mailFinding(error, mail));
  }
}

/** Only a service with webhooks can tell of a mail that did not arrive. */
export function checkMailEvents({ mail, appUrl }: Config): Check[] {
  if (mail.driver === "log" || mail.driver === "smtp" || !deliveryEventsOf(mail.driver)) return [];
  const url = `${appUrl}/mail/events`;
  if (mail.eventsSecret !== null) return [eventChecks.ok(`bounces are reported to ${url}`)];
  const { label: service } = mailServices[mail.driver];
  const found = "bounces are not reported: undeliverable addresses stay unknown";
  return [eventChecks.warn(found, `set MAIL_EVENTS_SECRET, and let the webhook of ${service} call ${url}`)];
}

export async function checkTestMail({ mail }: Config, typedAddress: string): Promise<Check> {
  const address = parseAddress(typedAddress);
  if (address === null)
    return testChecks.fail("this is not an email address", "give --mail an address such as you@example.org");
  if (mail.driver === "log") return testChecks.warn("the driver log sends none", "set MAIL_DRIVER first");
  try {
    await sendMail(address, testMail());
    return testChecks.ok(`the mail service accepted the mail to ${address}`);
  } catch (error) {
    if (!(error instanceof MailRefused)) return testChecks.fail(...mailFinding(error, mail));
    const what = error.reason === "recipient_refused" ? "the recipient" : "the message or its sender";
    const found = `the mail service refuses ${what}`;
    return testChecks.fail(found, "check the address, and whether MAIL_FROM may send there");
  }
}

const smtpFindings: Findings = [
  [/REFUSED|UNREACH/, "{at} refuses the connection", "correct host and port in SMTP_URL, or start the mail server"],
  [/ENOTFOUND|EDNS|EAI_AGAIN/, "the host {host} cannot be found", "correct the host in SMTP_URL, or the DNS"],
  [/WRONG_VERSION|PACKET_LENGTH/, "{at} does not start with TLS", "use smtp:// (STARTTLS, port 587) in SMTP_URL"],
  [/^ETLS/, "{at} does not offer STARTTLS", "use smtps:// with port 465, or switch STARTTLS on in the mail server"],
  [
    /^(?:ETIMEDOUT|ECONNECTION)/,
    "{at} did not answer in time",
    "open the port in the firewall; a port 465 needs smtps:// in SMTP_URL, a port 587 smtp://",
  ],
  [
    /^EAUTH|53[0458]$/,
    "{at} refuses the login ({code})",
    "correct user and password in SMTP_URL; both are percent-encoded there",
  ],
  [
    /CERT|SELF_SIGNED|ALTNAME|UNABLE_TO/,
    "the certificate of {at} is not valid for {host} ({code})",
    "use the name of the certificate in SMTP_URL; NODE_EXTRA_CA_CERTS=FILE trusts an authority of your own",
  ],
  [/^/, "{at} does not take mails ({code})", "look the code up in the log of the mail server"],
];

const serviceFindings: Findings = [
  [/^status 40[013]/, "{service} refuses the key ({cause})", "correct {setting}: the service's website has it"],
  [/^unreachable|timeout/, "{service} cannot be reached ({cause})", "allow outgoing https, or correct MAIL_API_URL"],
  [/^/, "{service} answered: {cause}", "correct MAIL_API_URL, or see the service's status page"],
];

function mailFinding(error: unknown, mail: SmtpConfig | MailServiceConfig): Finding {
  const fields = errorFields(error);
  if (mail.driver === "smtp") {
    const { host, port } = mail.server;
    const code = String(fields.code ?? "");
    return findingOf(smtpFindings, code, { at: `${host}:${port}`, host, code });
  }
  const { error: name, reason = name } = fields;
  const { label: service, setting } = mailServices[mail.driver];
  return findingOf(serviceFindings, reason, { service, setting, cause: causeOf({ ...fields, reason }) });
}

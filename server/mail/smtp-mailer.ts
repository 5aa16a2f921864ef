import type { Transporter } from "nodemailer";
import { config, type SmtpConfig } from "../config";
import { MailRefused } from "../errors";
import { headersIn, parseSender } from "../mail-services/service";
import { concurrentJobs } from "../rules";
import type { Mailer } from "./mail";

/** Replaced by tests. */
interface Limits {
  /** ms to connect, for the greeting and for each answer. */
  step: number;
  /** ms for a whole mail; the queue starts a job again after 60 s. */
  whole: number;
  /** Certificates of the authorities that are trusted; by default those of Node and of NODE_EXTRA_CA_CERTS. */
  ca?: string;
}

/** Certificates are verified. STARTTLS is required, but not on loopback: certificates there are self-signed. */
export function smtpMailer({ from, server }: SmtpConfig, limits: Limits = { step: 10_000, whole: 45_000 }): Mailer {
  const { host, port, implicitTls, loopback, login } = server;
  const { step, whole, ca } = limits;
  const sender = parseSender(from);
  let pool: Transporter | undefined;

  const opened = async () => {
    const { createTransport } = await import("nodemailer");
    pool ??= createTransport({
      name: greetingName(),
      pool: true,
      maxConnections: concurrentJobs,
      maxRequeues: 1, // when the server closes a connection before the mail is sent
      host,
      port,
      secure: implicitTls,
      requireTLS: !loopback,
      ignoreTLS: loopback && login === null,
      tls: { rejectUnauthorized: true, ca },
      ...(login && { auth: login, forceAuth: true }),
      dnsTimeout: step,
      connectionTimeout: step,
      greetingTimeout: step,
      socketTimeout: step,
      idleTimeout: step / 2,
    });
    return pool;
  };
  const fail = (error: unknown) => {
    throw smtpErrorOf(error);
  };

  return {
    async send({ to, subject, text, html, replyTo, language }) {
      // An address as an object is not parsed, so it cannot be a list.
      const recipient = { name: "", address: to };
      const sending = (await opened()).sendMail({
        from: sender,
        to: recipient,
        envelope: { from: sender, to: [recipient] },
        subject,
        text,
        html,
        replyTo: replyTo ?? undefined,
        headers: headersIn(language),
        xMailer: false,
        signal: AbortSignal.timeout(whole),
      });
      await sending.catch(fail);
    },

    async verify() {
      await (await opened()).verify().catch(fail);
    },

    async close() {
      pool?.close({ force: true });
    },
  };
}

/** The host of `APP_URL`, for EHLO (RFC 5321, section 4.1.1.1); of an address nodemailer makes a literal. */
function greetingName(): string | undefined {
  const { hostname } = new URL(config().appUrl);
  return /^\[|^[\d.]+$/.test(hostname) ? undefined : hostname;
}

/** The members of nodemailer's errors that hold no text of the server. */
interface SmtpFailure {
  code?: string;
  originalCode?: string;
  responseCode?: number;
  command?: string;
}

/** Replies that ask for a login, or for another one (RFC 4954, section 6). They can come after any command. */
const loginReplies = [530, 534, 535, 538];

function smtpErrorOf(error: unknown): Error {
  const { code, originalCode, responseCode = 0, command } = Object(error) as SmtpFailure;
  if (responseCode >= 500 && !loginReplies.includes(responseCode)) {
    if (code === "EENVELOPE" && command === "RCPT TO") return new MailRefused("recipient_refused");
    if (command === "DATA") return new MailRefused("message_refused");
  }
  return new SmtpError([code, responseCode || originalCode].filter(Boolean).join(" "));
}

/** An SMTP server did not accept a mail. Holds neither its answers nor the mail. */
class SmtpError extends Error {
  override name = "SmtpError";

  /** @param code nodemailer's, then the SMTP reply code or the code of a system or TLS error: `EAUTH 535` */
  constructor(readonly code: string) {
    super(code);
  }
}

import { once } from "node:events";
import type { Socket } from "node:net";
import { inspect } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { loadConfig, type SmtpConfig } from "#server/config";
import { noticeMail } from "#server/features/owner/notices";
import { resetMail } from "#server/mail/messages";
import { smtpMailer } from "#server/mail/smtp-mailer";
import { createAuthority } from "../support/certificates";
import { configure } from "../support/configure";
import { login, refuse, startScriptedServer, startSmtpServer } from "../support/smtp-service";

const limits = { step: 20_000, whole: 20_000 };
const email = "o'ada+x@example.com";
const token = "0123456789abcdef".repeat(4);
configure({ APP_URL: "https://login.example.com", SUPPORT_EMAIL: "help@example.com" });

const mail = { to: email, ...resetMail("en", email, token, { provider: null, passkeys: 0 }) };
const accepted = { from: "mail@latchkey.example", to: [email], secure: true, user: login.user };

const authority = createAuthority();
const unknownAuthority = createAuthority();
const certificate = authority.sign("IP:127.0.0.1");

const credentials = `${encodeURIComponent(login.user)}:${encodeURIComponent(login.pass)}`;

function mailerFor(url: string, port: number, more: { ca?: string; step?: number; whole?: number } = {}) {
  const from = '"Latchkey, ü" <mail@latchkey.example>';
  const config = loadConfig({ MAIL_DRIVER: "smtp", MAIL_FROM: from, SMTP_URL: url }).mail as SmtpConfig;
  const server = { ...config.server, host: "127.0.0.1", port };
  const mailer = smtpMailer({ ...config, server }, { ...limits, ca: authority.ca, ...more });
  onTestFinished(() => mailer.close?.());
  return mailer;
}

/** Resolves with the error that rejects the promise. */
const rejection = (promise: Promise<unknown>) => promise.then(String, (error: unknown) => error);

type Answers = Record<string, string | ((socket: Socket) => void)>;

const greeting = "220 mail.example";
const accepts: Answers = { greeting, EHLO: "250 mail.example", MAIL: "250", RCPT: "250", DATA: "354", ".": "250" };

/** A server that accepts every mail, but answers some commands or its greeting in another way, or not (""). */
async function startServer(others: Answers) {
  const lines: string[] = [];
  const { port } = await startScriptedServer((line, socket) => {
    const command = line?.split(/[ :]/, 1)[0] ?? "greeting";
    lines.push(line ?? command);
    const answer = others[command] ?? accepts[command];
    if (typeof answer === "function") answer(socket);
    else if (answer) socket.write(`${answer}\r\n`);
  });
  return { port, lines };
}

const refused = { name: "MailRefused", reason: "recipient_refused" };

const implicit = `smtps://${credentials}@mail.example`;
const startTls = `smtp://${credentials}@mail.example`;
const plain = "smtp://127.0.0.1:25";

describe.each([
  ["implicit TLS", implicit, true],
  ["STARTTLS", startTls, false],
])("over %s", (_how, url, secure) => {
  const sent = async () => {
    const server = await startSmtpServer({ secure, ...certificate });
    await mailerFor(url, server.port).send(mail);
    return server.mails;
  };

  test("a mail is sent to its recipient after a login", async () => {
    expect(await sent()).toMatchObject([accepted]);
  });

  test("a mail has the expected headers", async () => {
    expect((await sent())[0]?.headers).toEqual({
      from: "=?UTF-8?Q?Latchkey=2C_=C3=BC?= <mail@latchkey.example>",
      to: email,
      subject: "Reset your password",
      "auto-submitted": "auto-generated",
      "x-auto-response-suppress": "All",
      "content-language": "en",
      "reply-to": "help@example.com",
      "message-id": expect.stringMatching(/^<[\w-]+@latchkey\.example>$/),
      date: expect.stringMatching(/ \+0000$/),
      "mime-version": "1.0",
      "content-type": expect.stringMatching(/^multipart\/alternative; boundary=/),
    });
  });

  test.each(["text", "html"] as const)("a mail has its %s", async (part) => {
    expect((await sent())[0]?.text).toContain(mail[part].replaceAll("\n", "\r\n").trim());
  });

  test.each([
    ["of an unknown authority", unknownAuthority.sign("IP:127.0.0.1"), /UNABLE_TO_VERIFY_LEAF_SIGNATURE/],
    ["for another host", authority.sign("DNS:mail.example"), /ERR_TLS_CERT_ALTNAME_INVALID/],
    ["that has expired", authority.sign("IP:127.0.0.1", -1), /CERT_HAS_EXPIRED/],
  ])("a certificate %s is refused for any query", { tags: "12.3.2" }, async (_fault, certificate, code) => {
    const server = await startSmtpServer({ secure, ...certificate });
    const query = "?rejectUnauthorized=false&tls.rejectUnauthorized=false&ignoreTLS=true&secure=false&requireTLS=false";
    const error = await rejection(mailerFor(`${url}/${query}`, server.port).send(mail));
    expect(error).toMatchObject({ name: "SmtpError", code: expect.stringMatching(code) });
    expect(server.mails).toEqual([]);
  });
});

/** Decodes the encoded words of a header (RFC 2047). */
function decodeHeader(value: string): string {
  const hexOf = (encoding: string, text: string) =>
    encoding.toUpperCase() === "B" ? Buffer.from(text, "base64").toString("hex").replace(/../g, "%$&") : text;
  const words = value.matchAll(/=\?UTF-8\?([QB])\?([^?]*)\?=/gi);
  const encoded = [...words].map(([, encoding = "", text = ""]) => hexOf(encoding, text));
  return decodeURIComponent(encoded.join("").replaceAll("_", " ").replaceAll("=", "%"));
}

test("a loopback server may have any certificate without a login", async () => {
  const server = await startSmtpServer({ authOptional: true, ...unknownAuthority.sign("DNS:elsewhere.example") });
  await mailerFor(plain, server.port).send(mail);
  expect(server.mails).toMatchObject([{ ...accepted, secure: false, user: undefined }]);
});

test.each(["de", "fr", "ja", "ar"] as const)("a subject in %s is sent as encoded words", async (language) => {
  const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true });
  const message = noticeMail({ task: "mail_password_changed", email, language }, language);
  const subject = `${message.subject} – ä あ ع`;
  await mailerFor(plain, server.port).send({ to: email, ...message, subject });
  expect(server.mails).toHaveLength(1);
  const sent = server.mails[0]?.headers.subject ?? "";
  expect(sent).toMatch(/^(?:=\?UTF-8\?[QB]\?[!->@-~]+\?= ?)+$/i);
  for (const word of sent.split(" ")) expect(word.length).toBeLessThanOrEqual(75);
  expect(decodeHeader(sent)).toBe(subject);
});

test("without STARTTLS neither a login nor a mail is sent", { tags: "12.3.1" }, async () => {
  const { port, lines } = await startServer({ EHLO: "250-mail.example\r\n250 AUTH PLAIN LOGIN", STARTTLS: "502" });
  const error = await rejection(mailerFor(startTls, port).send(mail));
  expect(error).toMatchObject({ name: "SmtpError", code: "ETLS 502" });
  expect(lines).toEqual(["greeting", "EHLO login.example.com", "STARTTLS"]);
});

test("a password is not sent to a loopback server with an untrusted certificate", async () => {
  const server = await startSmtpServer({ ...unknownAuthority.sign("IP:127.0.0.1"), allowInsecureAuth: true });
  const error = await rejection(mailerFor(`smtp://${credentials}@127.0.0.1`, server.port).send(mail));
  expect(error).toMatchObject({ code: expect.stringMatching(/UNABLE_TO_VERIFY_LEAF_SIGNATURE/) });
  expect(server.mails).toEqual([]);
});

describe("a refusal", () => {
  type Step = "onConnect" | "onAuth" | "onMailFrom" | "onRcptTo" | "onData";

  /** A server that refuses at one step; its last argument is the callback. */
  const refusing = (step: Step, code: number) => ({
    [step](...parameters: [...unknown[], (error: Error) => void]) {
      const end = () => (parameters.at(-1) as (error: Error) => void)(refuse(code));
      if (step === "onData") (parameters[0] as NodeJS.ReadableStream).resume().on("end", end);
      else end();
    },
  });

  const temporary = (code: unknown) => ({ name: "SmtpError", code });

  const refusals: [string, Step, number, object][] = [
    ["of the recipient is final", "onRcptTo", 550, refused],
    ["of the recipient is final", "onRcptTo", 552, refused],
    ["of the message is final", "onData", 554, { name: "MailRefused", reason: "message_refused" }],
    ["of the recipient is not", "onRcptTo", 450, temporary("EENVELOPE 450")],
    ["of the message is not", "onData", 451, temporary("EMESSAGE 451")],
    ["of the recipient is not", "onRcptTo", 421, temporary("ECONNECTION 421")],
    ["of the configured sender is not", "onMailFrom", 550, temporary("EENVELOPE 550")],
    ["for a missing login is not", "onRcptTo", 530, temporary("EENVELOPE 530")],
    ["of the login is not", "onAuth", 535, temporary("EAUTH 535")],
    ["in place of a greeting is not", "onConnect", 554, temporary(expect.stringMatching(/ 554$/))],
    ["in place of a greeting is not", "onConnect", 421, temporary(expect.stringMatching(/ 421$/))],
  ];

  async function errorOf(step: Step, code: number): Promise<unknown> {
    const server = await startSmtpServer({ secure: true, ...certificate, ...refusing(step, code) });
    const error = await rejection(mailerFor(implicit, server.port).send(mail));
    expect(server.mails).toEqual([]);
    return error;
  }

  test.each(refusals)("%s (%s, %i)", async (_what, step, code, expected) => {
    expect(await errorOf(step, code)).toMatchObject(expected);
  });

  test.each(refusals)("%s (%s, %i) with neither the server's text nor a secret", async (_what, step, code) => {
    const error = inspect(await errorOf(step, code));
    for (const text of [token, email, login.pass, "for a reason"]) expect(error).not.toContain(text);
  });
});

test("a connection that closes in the middle of a message fails the mail", async () => {
  const server = await startServer({ "Message-ID": (socket) => void socket.destroy() });
  const error = await rejection(mailerFor(plain, server.port).send(mail));
  expect(error).toMatchObject({ name: "SmtpError", code: expect.stringMatching(/^(ECONNECTION|ESOCKET)/) });
});

describe("a server that does not answer fails the mail before the deadline", () => {
  test.each([
    ["before its greeting", "greeting"],
    ["after EHLO", "EHLO"],
    ["after RCPT", "RCPT"],
    ["after the message", "."],
  ])("%s", async (_when, last) => {
    const server = await startServer({ [last]: "" });
    const error = await rejection(mailerFor(plain, server.port, { step: 200 }).send(mail));
    expect(error).toMatchObject({ name: "SmtpError", code: "ETIMEDOUT" });
  });

  test("with an endless answer to RCPT", async () => {
    let timer: NodeJS.Timeout | undefined;
    onTestFinished(() => clearInterval(timer));
    const server = await startServer({
      RCPT(socket) {
        timer = setInterval(() => socket.write("250-wait\r\n"), 20);
      },
    });
    const error = await rejection(mailerFor(plain, server.port, { whole: 300 }).send(mail));
    expect(error).toMatchObject({ name: "SmtpError", code: "EABORT" });
  });
});

describe("no field of a mail can add a header or a recipient", () => {
  test.each<[string, Partial<typeof mail>, string]>([
    ["a subject of lines", { subject: "A\r\nBcc: eve@example.com\r\n\r\nbody" }, "A Bcc: eve@example.com  body"],
    ["a subject with a bare line feed", { subject: "Reset\nBcc: eve@example.com" }, "Reset Bcc: eve@example.com"],
    [
      "a body that ends the message",
      { text: "one\r\n.\r\nMAIL FROM:<a@b>\r\nRCPT TO:<eve@example.com>\r\n" },
      mail.subject,
    ],
  ])("%s", async (_what, change, subject) => {
    const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true });
    await mailerFor(plain, server.port).send({ ...mail, ...change });
    expect(server.mails).toMatchObject([{ to: [email], headers: { to: email, subject } }]);
    expect(Object.keys(server.mails[0]?.headers ?? {})).toHaveLength(11);
  });

  test.each([
    ["ada@example.com\r\nRCPT TO:<eve@example.com>", '"ada@example.com RCPT TO: eve"@example.com'],
    ["ada@example.com>\r\nRCPT TO:<eve@example.com", '"ada@example.com RCPT TO: eve"@example.com'],
    ["ada@example.com, eve@example.com", '"ada@example.com, eve"@example.com'],
    ["ada@example.com <eve@example.com>", '"ada@example.com  eve"@example.com'],
    ["all: ada@example.com, eve@example.com;", '"all: ada@example.com, eve"@example.com;'],
    ['"eve@example.com, x"@example.org', '"eve@example.com, x"@example.org'],
  ])("%j is sent as one recipient", { tags: ["1.3.11", "CVE-2025-13033"] }, async (to, address) => {
    const { port, lines } = await startServer({ RCPT: "550" });
    expect(await rejection(mailerFor(plain, port).send({ ...mail, to }))).toMatchObject(refused);
    expect(lines.filter((line) => line.startsWith("RCPT"))).toEqual([`RCPT TO:<${address}>`]);
  });
});

test("text outside ASCII is received unchanged", async () => {
  const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true });
  await mailerFor(plain, server.port).send({ ...mail, text: "Größe → 日本語\n", html: "<p>مرحبا</p>" });
  const text = server.mails[0]?.text ?? "";
  const encoded = [...text.matchAll(/base64\r\n\r\n([\w+/=\r\n]+)/g)];
  const all = text + encoded.map(([, body = ""]) => Buffer.from(body, "base64").toString("utf8")).join("\n");
  expect(all).toContain("Größe → 日本語");
  expect(all).toContain("<p>مرحبا</p>");
});

describe("the connections of mails", () => {
  test("are shared by mails one after another", async () => {
    const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true });
    const mailer = mailerFor(plain, server.port);
    for (let sent = 0; sent < 3; sent++) await mailer.send(mail);
    expect(server.connections()).toBe(1);
  });

  test("are at most twenty for simultaneous mails", async () => {
    const server = await startSmtpServer({ authOptional: true, hideSTARTTLS: true });
    const mailer = mailerFor(plain, server.port);
    await Promise.all(Array.from({ length: 50 }, () => mailer.send(mail)));
    expect(server.mails).toHaveLength(50);
    expect(server.connections()).toBeLessThanOrEqual(20);
  });
});

describe("closing the mailer", () => {
  /** A mailer that is closed while a mail is in flight. */
  async function closeInFlight() {
    let ended: Promise<unknown> | undefined;
    const server = await startServer({
      DATA(socket) {
        ended = once(socket, "close");
        mailer.close?.();
      },
    });
    const mailer = mailerFor(plain, server.port);
    const error = await rejection(mailer.send(mail));
    return { mailer, error, ended: () => ended };
  }

  test("ends its connections", async () => {
    const { ended } = await closeInFlight();
    expect(ended()).toBeDefined();
    await ended();
  });

  test("fails a mail in flight", async () => {
    expect((await closeInFlight()).error).toMatchObject({ name: "SmtpError" });
  });

  test("fails a later mail", async () => {
    const { mailer, ended } = await closeInFlight();
    await ended();
    expect(await rejection(mailer.send(mail))).toMatchObject({ name: "SmtpError" });
  });
});

test("an unreachable server fails the mail", async () => {
  expect(await rejection(mailerFor(plain, 1).send(mail))).toMatchObject({ code: "ESOCKET ECONNREFUSED" });
});

test("a mail after a failed one connects again", async () => {
  const { port, mails } = await startSmtpServer({ authOptional: true, hideSTARTTLS: true });
  await rejection(mailerFor(plain, 1).send(mail));
  await mailerFor(plain, port).send(mail);
  expect(mails).toHaveLength(1);
});

import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import type { Config, Environment } from "#server/config";
import type { MailRefusal } from "#server/events";
import { noticeMail } from "#server/features/owner/notices";
import type { PostmarkEmail, ResendEmail } from "#server/mail/http-mailer";
import { sendMail } from "#server/mail/mailer";
import { emailChangeMail, registrationMail, resetMail } from "#server/mail/messages";
import { configure } from "../support/configure";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";

const settings = {
  APP_URL: "https://latchkey.example",
  MAIL_FROM: "Latchkey ü <mail@latchkey.example>",
  SUPPORT_EMAIL: "help@latchkey.example",
};
const outgoing = recordOutgoingCalls();

const email = "o'ada+x@example.com";
const token = "0123456789abcdef".repeat(4);
const resetUrl = `https://latchkey.example/reset-password?email=o%27ada%2Bx%40example.com&token=${token}`;

const resetText = `Reset your password:

${resetUrl}

This link expires in 60 minutes.

If you did not ask for this, you can ignore this mail.

This mail was sent by Latchkey.

--\u0020
Help: help@latchkey.example
`;

const resetHtml = readFileSync("tests/contract/reset-mail.html", "utf8");

interface MailService {
  settings: Environment;
  path: string;
  url: string;
  headers: Record<string, string>;
  message: ResendEmail | PostmarkEmail;
  accepted: string;
  /** The bodies of answers with status 422 whose cause is this mail, not the configuration. */
  refusals: [string, string, MailRefusal][];
  invalidAnswers: [string, Answer, string][];
}

const services: Record<Exclude<Config["mail"]["driver"], "log" | "smtp">, MailService> = {
  resend: {
    settings: { MAIL_DRIVER: "resend", RESEND_API_KEY: "re_secret/+=" },
    path: "/emails",
    url: "https://api.resend.com/emails",
    headers: { authorization: "Bearer re_secret/+=", host: "api.resend.com" },
    message: {
      from: "Latchkey ü <mail@latchkey.example>",
      to: [email],
      subject: "Reset your password",
      text: resetText,
      html: resetHtml,
      reply_to: "help@latchkey.example",
      headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All", "Content-Language": "en" },
    },
    accepted: '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}',
    refusals: [
      ["an invalid address", '{"name":"validation_error","message":"Invalid `to`"}', "message_refused"],
      ["a parameter", '{"statusCode":422,"name":"invalid_parameter","message":"a"}', "message_refused"],
      ["a missing field", '{"statusCode":422,"name":"missing_required_field","message":"a"}', "message_refused"],
    ],
    invalidAnswers: [
      ["status 422 for the sender", { status: 422, body: '{"name":"invalid_from_address"}' }, "status 422"],
      ["status 422 and no name", { status: 422, body: '{"name":{"a":"validation_error"}}' }, "status 422"],
      ["status 403 for the domain", { status: 403, body: '{"name":"validation_error"}' }, "status 403"],
      ["an object for the id", { body: '{"id":{}}' }, "unexpected"],
    ],
  },
  postmark: {
    settings: { MAIL_DRIVER: "postmark", POSTMARK_SERVER_TOKEN: "pm-secret" },
    path: "/email",
    url: "https://api.postmarkapp.com/email",
    headers: { "x-postmark-server-token": "pm-secret", host: "api.postmarkapp.com" },
    message: {
      From: "Latchkey ü <mail@latchkey.example>",
      To: email,
      ReplyTo: "help@latchkey.example",
      Subject: "Reset your password",
      TextBody: resetText,
      HtmlBody: resetHtml,
      Headers: [
        { Name: "Auto-Submitted", Value: "auto-generated" },
        { Name: "X-Auto-Response-Suppress", Value: "All" },
        { Name: "Content-Language", Value: "en" },
      ],
      MessageStream: "outbound",
      TrackOpens: false,
      TrackLinks: "None",
    },
    accepted: `{"To":"${email}","SubmittedAt":"2026-11-21T07:25:01Z","MessageID":"0a129aee","ErrorCode":0,"Message":"OK"}`,
    refusals: [
      ["an invalid mail", '{"ErrorCode":300,"Message":"Invalid \'To\' address"}', "message_refused"],
      ["an inactive recipient", '{"ErrorCode":406,"Message":"Inactive recipient"}', "recipient_refused"],
    ],
    invalidAnswers: [
      ["an error code of its own", { body: '{"ErrorCode":406,"Message":"Inactive recipient"}' }, "unexpected"],
      ["status 422 for the sender", { status: 422, body: '{"ErrorCode":400,"Message":"No signature"}' }, "status 422"],
      ["status 422 and a string for the code", { status: 422, body: '{"ErrorCode":"300"}' }, "status 422"],
    ],
  },
};

const refusals: [string, Answer, string][] = [
  ["status 200 and a body that is not JSON", { body: "OK" }, "not_json"],
  ["status 200 and an empty object", { body: "{}" }, "unexpected"],
  ["status 200 and an empty body", { body: "" }, "not_json"],
  ["status 401", { status: 401, body: '{"message":"API key is invalid"}' }, "status 401"],
  ["status 422 and a body that is not JSON", { status: 422, body: "no" }, "status 422"],
  ["status 422 and half a body", { status: 422, body: '{"name":"', stall: "in the middle of the body" }, "status 422"],
  ["status 429", { status: 429, headers: { "retry-after": "1" }, body: "{}" }, "status 429"],
  ["status 500", { status: 500, body: "oops" }, "status 500"],
  ["a redirect", { status: 307, headers: { location: "https://elsewhere.example/email" }, body: "{}" }, "redirect 307"],
  ["more than one mebibyte", { body: `{"id":"x","ErrorCode":0}`.padEnd(1_048_577) }, "too_large"],
  ["no headers before the deadline", { stall: "before the headers" }, "timeout"],
  ["half a body", { body: '{"id":"x","ErrorCode":0}', stall: "in the middle of the body" }, "timeout"],
  ["a broken connection", { broken: true }, "unreachable"],
];

const send = () => sendMail(email, resetMail("en", email, token));

describe.each(Object.entries(services))("%s", (_name, service) => {
  test.each([
    ["at the service's default URL", {}, service.url, service.headers],
    [
      "at the URL of MAIL_API_URL",
      { MAIL_API_URL: "https://mail.example:8443/v2/" },
      `https://mail.example:8443/v2${service.path}`,
      { ...service.headers, host: "mail.example:8443" },
    ],
  ])("one request sends the mail %s", async (_where, address, url, headers) => {
    configure({ ...settings, ...service.settings, ...address });
    outgoing.answer("POST", url, { body: service.accepted });
    await send();
    const json = { accept: "application/json", "content-type": "application/json" };
    const body = expect.any(String);
    expect(outgoing.calls()).toEqual([{ method: "POST", url, headers: { ...json, ...headers }, body }]);
    expect(JSON.parse(outgoing.calls()[0]!.body)).toEqual(service.message);
    expect(outgoing.deadlines()).toEqual([5000]);
  });

  describe.each([
    ...[...refusals, ...service.invalidAnswers].map(
      ([fault, answer, reason]) => [fault, "CallError", reason, answer] as const,
    ),
    ...service.refusals.map(([what, body, reason]) => [what, "MailRefused", reason, { status: 422, body }] as const),
  ])("the answer %s", (_answer, type, reason, answer) => {
    async function failure(): Promise<unknown> {
      configure({ ...settings, ...service.settings });
      outgoing.answer("POST", service.url, answer);
      return send().catch((thrown: unknown) => thrown);
    }

    test(`is a ${type}: ${reason}`, async () => {
      expect(await failure()).toMatchObject({ name: type, reason });
    });

    test("is an error without a secret", async () => {
      const text = inspect(await failure());
      for (const secret of [token, email, "re_secret", "pm-secret", "Invalid", "Inactive"])
        expect(text).not.toContain(secret);
    });

    test("ends the one request", async () => {
      await failure();
      expect(outgoing.addresses()).toEqual([`POST ${service.url}`]);
      expect(outgoing.deadlines()).toEqual([5000]);
    });
  });
});

test("the log driver prints the mail between its two marker lines", async () => {
  configure(settings);
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await send();
  expect(write.mock.calls.map(([text]) => text)).toEqual([
    `--- mail ---
To: ${email}
From: Latchkey ü <mail@latchkey.example>
Subject: Reset your password

${resetText}--- end mail ---
`,
  ]);
  expect(outgoing.calls()).toEqual([]);
});

test("the log driver prints the subject in its language", async () => {
  configure(settings);
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await sendMail(email, noticeMail({ task: "mail_password_changed", email, language: "ar" }, "ar"));
  expect(write.mock.calls[0]?.[0]).toContain("\nSubject: تم تغيير كلمة المرور\n");
});

test("a mailed link escapes its address in both parts", { tags: ["1.1.2", "1.2.1", "1.2.2"] }, () => {
  configure({ APP_URL: "https://latchkey.example" });
  const email = "a&b'c`d/e?f=g#h+i%20@example.com";
  const change = emailChangeMail("en", email, token, "old@example.com");
  for (const { text, html } of [resetMail("en", email, token), registrationMail("en", email, token), change]) {
    const link = new URL(/^https:\S+$/m.exec(text)?.[0] ?? "");
    expect(Object.fromEntries(link.searchParams)).toEqual({ email, token });
    expect(/href="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&")).toBe(link.href);
    expect(html).not.toContain(email);
  }
});

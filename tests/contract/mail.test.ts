import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { checkMail } from "#server/commands/doctor/mail";
import type { Environment } from "#server/config";
import type { MailRefusal } from "#server/events/events";
import { noticeMail } from "#server/features/owner/notices";
import { sendMail } from "#server/mail/mailer";
import { emailChangeMail, registrationMail, resetMail } from "#server/mail/messages";
import { type MailServiceName, mailServices } from "#server/mail-services/services";
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
  message: object;
  accepted: { status: number; body: string };
  /** Answers whose cause is this mail, not the configuration. */
  refusals: [what: string, answer: { status: number; body: string }, reason: MailRefusal][];
  invalidAnswers: [what: string, answer: Answer, reason: string][];
  /** What `doctor` asks. */
  verifyUrl: string;
  /** Its answers, by the key: `null` for one that may send mails, else the cause that `doctor` names. */
  keys: [what: string, answer: Answer, cause: string | null][];
}

const services: Record<MailServiceName, MailService> = {
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
    accepted: { status: 200, body: '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}' },
    refusals: [
      [
        "an invalid address",
        { status: 422, body: '{"name":"validation_error","message":"Invalid `to`"}' },
        "message_refused",
      ],
      ["a parameter", { status: 422, body: '{"name":"invalid_parameter","message":"Invalid"}' }, "message_refused"],
      [
        "a missing field",
        { status: 422, body: '{"name":"missing_required_field","message":"Missing"}' },
        "message_refused",
      ],
    ],
    invalidAnswers: [
      ["status 422 for the sender", { status: 422, body: '{"name":"invalid_from_address"}' }, "status 422"],
      ["status 422 and no name", { status: 422, body: '{"name":{"a":"validation_error"}}' }, "status 422"],
      ["status 403 for the domain", { status: 403, body: '{"name":"validation_error"}' }, "status 403"],
      ["an object for the id", { body: '{"id":{}}' }, "unexpected"],
    ],
    verifyUrl: "https://api.resend.com/domains",
    keys: [
      ["with full access", { body: '{"data":[]}' }, null],
      ["that may only send", { status: 401, body: '{"name":"restricted_api_key"}' }, null],
      ["that is wrong", { status: 403, body: '{"name":"invalid_api_key"}' }, "status 403, invalid_api_key"],
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
    accepted: {
      status: 200,
      body: `{"To":"${email}","SubmittedAt":"2026-11-21T07:25:01Z","MessageID":"0a129aee","ErrorCode":0,"Message":"OK"}`,
    },
    refusals: [
      [
        "an invalid mail",
        { status: 422, body: '{"ErrorCode":300,"Message":"Invalid \'To\' address"}' },
        "message_refused",
      ],
      [
        "an inactive recipient",
        { status: 422, body: '{"ErrorCode":406,"Message":"Inactive recipient"}' },
        "recipient_refused",
      ],
    ],
    invalidAnswers: [
      ["an error code of its own", { body: '{"ErrorCode":406,"Message":"Inactive recipient"}' }, "unexpected"],
      ["status 422 for the sender", { status: 422, body: '{"ErrorCode":400,"Message":"No signature"}' }, "status 422"],
      ["status 422 and a string for the code", { status: 422, body: '{"ErrorCode":"300"}' }, "status 422"],
      ["an object for the code", { body: '{"ErrorCode":{}}' }, "unexpected"],
    ],
    verifyUrl: "https://api.postmarkapp.com/server",
    keys: [
      ["that is right", { body: '{"ID":1}' }, null],
      ["that is wrong", { status: 401, body: '{"ErrorCode":10}' }, "status 401, 10"],
    ],
  },
};

/** What concerns no single mail, whatever the service. */
function faultsOf({ accepted, refusals }: MailService): [what: string, answer: Answer, reason: string][] {
  const { status = 0, body = "" } = refusals[0]?.[1] ?? {};
  return [
    ["acceptance and a body that is not JSON", { ...accepted, body: "OK" }, "not_json"],
    ["acceptance and an empty object", { ...accepted, body: "{}" }, "unexpected"],
    ["acceptance and an empty body", { ...accepted, body: "" }, "not_json"],
    ["a refusal and a body that is not JSON", { status, body: "no" }, `status ${status}`],
    ["a refusal and half a body", { status, body, stall: "in the middle of the body" }, `status ${status}`],
    ["status 401", { status: 401, body: '{"message":"API key is invalid"}' }, "status 401"],
    ["status 429", { status: 429, headers: { "retry-after": "1" }, body: "{}" }, "status 429"],
    ["status 500", { status: 500, body: "oops" }, "status 500"],
    ["a redirect", { status: 307, headers: { location: "https://elsewhere.example/" }, body: "{}" }, "redirect 307"],
    ["more than one mebibyte", { ...accepted, body: accepted.body.padEnd(1_048_577) }, "too_large"],
    ["no headers before the deadline", { stall: "before the headers" }, "timeout"],
    ["half a body", { ...accepted, stall: "in the middle of the body" }, "timeout"],
    ["a broken connection", { broken: true }, "unreachable"],
  ];
}

const noOtherWays = { provider: null, passkeys: 0 };

const send = () => sendMail(email, resetMail("en", email, token, noOtherWays));

describe.each(Object.entries(services) as [MailServiceName, MailService][])("%s", (name, service) => {
  const { label, setting } = mailServices[name];
  const key = service.settings[setting];

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
    outgoing.answer("POST", url, service.accepted);
    await send();
    const json = { accept: "application/json", "content-type": "application/json" };
    const body = expect.any(String);
    expect(outgoing.calls()).toEqual([{ method: "POST", url, headers: { ...json, ...headers }, body }]);
    expect(JSON.parse(outgoing.calls()[0]!.body)).toEqual(service.message);
    expect(outgoing.deadlines()).toEqual([5000]);
  });

  describe.each([
    ...[...faultsOf(service), ...service.invalidAnswers].map(
      ([fault, answer, reason]) => [fault, "CallError", reason, answer] as const,
    ),
    ...service.refusals.map(([what, answer, reason]) => [what, "MailRefused", reason, answer] as const),
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
      const texts = [...String(answer.body).matchAll(/"message":"([^"]+)"/gi)].map(([, text = ""]) => text);
      const error = inspect(await failure());
      for (const secret of [token, email, key, ...texts]) expect(error).not.toContain(secret);
    });

    test("ends the one request", async () => {
      await failure();
      expect(outgoing.addresses()).toEqual([`POST ${service.url}`]);
      expect(outgoing.deadlines()).toEqual([5000]);
    });
  });

  test.each(service.keys)("`doctor` verifies a key %s without sending a mail", async (_what, answer, cause) => {
    const config = configure({ ...settings, ...service.settings });
    outgoing.answer("GET", service.verifyUrl, answer);
    const refused = {
      status: "fail",
      found: `${label} refuses the key (${cause})`,
      fix: `correct ${setting}: the service's website has it`,
    };
    const accepted = { status: "ok", found: `${name}: the key is accepted` };
    expect(await checkMail(config)).toEqual({ name: "mail", ...(cause === null ? accepted : refused) });
    const headers = { accept: "application/json", ...service.headers };
    expect(outgoing.calls()).toEqual([{ method: "GET", url: service.verifyUrl, headers, body: "" }]);
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
  const reset = resetMail("en", email, token, noOtherWays);
  for (const { text, html } of [reset, registrationMail("en", email, token), change]) {
    const link = new URL(/^https:\S+$/m.exec(text)?.[0] ?? "");
    expect(Object.fromEntries(link.searchParams)).toEqual({ email, token });
    expect(/href="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&")).toBe(link.href);
    expect(html).not.toContain(email);
  }
});

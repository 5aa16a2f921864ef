import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import type { Environment } from "#server/config";
import type { MailRefusal } from "#server/events";
import { sendMail } from "#server/mail/mailer";
import { passwordChangedMail, resetMail } from "#server/mail/messages";
import type { PostmarkEmail } from "#server/mail/postmark-mailer";
import type { ResendEmail } from "#server/mail/resend-mailer";
import { configure } from "../support/configure";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";

const settings = { APP_URL: "https://latchkey.example", MAIL_FROM: "Latchkey ü <mail@latchkey.example>" };
const outgoing = recordOutgoingCalls();

const email = "o'ada+x@example.com";
const token = "0123456789abcdef".repeat(4);
const resetUrl = `https://latchkey.example/reset-password?email=o%27ada%2Bx%40example.com&token=${token}`;

const resetText = `Reset your password:

${resetUrl}

This link expires in 60 minutes.

If you did not ask for this, you can ignore this mail.
`;

const href = resetUrl.replace("&", "&amp;");
const resetHtml = `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>Reset your password</title>
<style>
:root { color-scheme: light dark }
@media (prefers-color-scheme: dark) {
.ground { background-color: #121615 !important }
.card { background-color: #1a201e !important; border-color: #303a36 !important }
.ink { color: #e3e9e6 !important }
.muted { color: #a2aea9 !important }
.accent { color: #119782 !important }
}
</style>
</head>
<body class="ground" style="margin:0;padding:0;background-color:#f3f5f4">
<table class="ground" role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f3f5f4" style="background-color:#f3f5f4">
<tr><td align="center" style="padding:32px 16px">
<table class="ink" role="presentation" width="100%" dir="ltr" cellpadding="0" cellspacing="0" border="0" style="max-width:480px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5;color:#1c2422;text-align:left">
<tr><td class="accent" style="padding:0 4px 16px;font-weight:600;color:#0b6355">Latchkey</td></tr>
<tr><td class="card" bgcolor="#ffffff" style="padding:28px 28px 12px;border:1px solid #dfe4e2;border-radius:12px;background-color:#ffffff">
<p style="margin:0 0 16px">Reset your password:</p>
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:0 0 16px"><tr><td bgcolor="#0b6355" style="border-radius:8px;background-color:#0b6355"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:8px;color:#ffffff;font-weight:600;text-decoration:none">Choose a new password</a></td></tr></table>
<p dir="ltr" style="margin:0 0 16px;font-size:14px;word-break:break-all"><a class="accent" href="${href}" style="color:#0b6355">${href}</a></p>
<p class="muted" style="margin:0 0 8px;font-size:14px;color:#55615d">This link expires in 60 minutes.</p>
<p class="muted" style="margin:0 0 8px;font-size:14px;color:#55615d">If you did not ask for this, you can ignore this mail.</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;

interface MailService {
  settings: Environment;
  path: string;
  url: string;
  headers: Record<string, string>;
  message: ResendEmail | PostmarkEmail;
  accepted: string;
  /** Answers with status 422 whose cause is this mail, not the configuration. */
  refusals: [string, string, MailRefusal][];
  invalidAnswers: [string, Answer, string][];
}

const services: Record<"resend" | "postmark", MailService> = {
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
      headers: { "Auto-Submitted": "auto-generated" },
    },
    accepted: '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}',
    refusals: [
      [
        "an invalid recipient address",
        '{"statusCode":422,"name":"validation_error","message":"Invalid `to`"}',
        "message_refused",
      ],
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
      Subject: "Reset your password",
      TextBody: resetText,
      HtmlBody: resetHtml,
      Headers: [{ Name: "Auto-Submitted", Value: "auto-generated" }],
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
  [
    "status 422 and no complete body before the deadline",
    { status: 422, body: '{"name":"', stall: "in the middle of the body" },
    "status 422",
  ],
  ["status 429", { status: 429, headers: { "retry-after": "1" }, body: "{}" }, "status 429"],
  ["status 500", { status: 500, body: "oops" }, "status 500"],
  ["a redirect", { status: 307, headers: { location: "https://elsewhere.example/email" }, body: "{}" }, "redirect 307"],
  ["more than one mebibyte", { body: `{"id":"x","ErrorCode":0}`.padEnd(1_048_577) }, "too_large"],
  ["no headers before the deadline", { stall: "before the headers" }, "timeout"],
  [
    "no complete body before the deadline",
    { body: '{"id":"x","ErrorCode":0}', stall: "in the middle of the body" },
    "timeout",
  ],
  ["a broken connection", { broken: true }, "unreachable"],
];

const send = () => sendMail(email, resetMail("en", settings.APP_URL, email, token));

describe.each(["resend", "postmark"] as const)("%s", (name) => {
  const service = services[name];

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
    expect(outgoing.calls()).toEqual([
      {
        method: "POST",
        url,
        headers: { accept: "application/json", "content-type": "application/json", ...headers },
        body: expect.any(String),
      },
    ]);
    expect(JSON.parse(outgoing.calls()[0]?.body ?? "")).toEqual(service.message);
    expect(outgoing.deadlines()).toEqual([5000]);
  });

  test.each(service.refusals)("%s refused with status 422 is final", async (_what, body, reason) => {
    configure({ ...settings, ...service.settings });
    outgoing.answer("POST", service.url, { status: 422, body });
    const error = await send().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "MailRefused", reason });
    for (const secret of [token, email, "Invalid", "Inactive"]) expect(inspect(error)).not.toContain(secret);
    expect(outgoing.addresses()).toEqual([`POST ${service.url}`]);
  });

  test.each([...refusals, ...service.invalidAnswers])(
    "answered by %s, sending fails after one request, and the error contains no secret",
    async (_fault, answer, reason) => {
      configure({ ...settings, ...service.settings });
      outgoing.answer("POST", service.url, answer);
      const error = await send().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ name: "CallError", reason });
      for (const secret of [token, "re_secret", "pm-secret"]) expect(inspect(error)).not.toContain(secret);
      expect(outgoing.addresses()).toEqual([`POST ${service.url}`]);
      expect(outgoing.deadlines()).toEqual([5000]);
    },
  );
});

test.each(["resend", "postmark"] as const)("%s gets subjects outside ASCII as they are", async (name) => {
  const service = services[name];
  configure({ ...settings, ...service.settings });
  for (const language of ["de", "ja", "ar"] as const) {
    outgoing.answer("POST", service.url, { body: service.accepted });
    const mail = passwordChangedMail(language, settings.APP_URL);
    expect(mail.subject).toMatch(/[^\x20-\x7e]|^Ihr Passwort/);
    await sendMail(email, mail);
    expect(JSON.parse(outgoing.calls().at(-1)?.body ?? "")).toMatchObject(
      name === "resend" ? { subject: mail.subject } : { Subject: mail.subject },
    );
  }
});

test("the log driver prints subjects outside ASCII as they are", async () => {
  configure(settings);
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await sendMail(email, passwordChangedMail("ar", settings.APP_URL));
  expect(write.mock.calls.map(([text]) => text).join("")).toContain("\nSubject: تم تغيير كلمة المرور\n");
});

test("the log driver prints the mail between its two marker lines and nothing else", async () => {
  configure(settings);
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  await send();
  expect(write.mock.calls.map(([text]) => text).join("")).toBe(`--- mail ---
To: ${email}
From: Latchkey ü <mail@latchkey.example>
Subject: Reset your password

${resetText}--- end mail ---
`);
  expect(outgoing.calls()).toEqual([]);
});

import { describe, expect, test } from "vitest";
import type { Environment } from "#server/config";
import type { PostmarkEmail } from "#server/mail/postmark-mailer";
import type { ResendEmail } from "#server/mail/resend-mailer";
import * as forgotPassword from "~/routes/forgot-password";
import * as resetPassword from "~/routes/reset-password";
import { createUser } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey({
  APP_URL: "https://latchkey.example",
  MAIL_FROM: "Latchkey ü <mail@latchkey.example>",
});
const outgoing = recordOutgoingCalls();
const log = recordLog();

const email = "o'ada+x@example.com";
const resetUrl = (token: string) =>
  `https://latchkey.example/reset-password?email=o%27ada%2Bx%40example.com&token=${token}`;

const resetText = (token: string) => `Reset your password:

${resetUrl(token)}

This link expires in 60 minutes.

If you did not ask for this, you can ignore this mail.
`;

const resetHtml = (token: string) => {
  const href = resetUrl(token).replace("&", "&amp;");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light only">
<title>Reset your password</title>
</head>
<body style="margin:0;padding:0;background-color:#f3f5f4">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" bgcolor="#f3f5f4">
<tr><td align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" border="0" style="max-width:480px;font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;font-size:16px;line-height:1.5;color:#1c2422;text-align:left">
<tr><td style="padding:0 4px 16px;font-weight:600;color:#0b6355">Latchkey</td></tr>
<tr><td bgcolor="#ffffff" style="padding:28px 28px 12px;border:1px solid #dfe4e2;border-radius:12px;background-color:#ffffff">
<p style="margin:0 0 16px">Reset your password:</p>
<p style="margin:0 0 16px"><a href="${href}" style="display:inline-block;padding:12px 20px;border-radius:8px;background-color:#0b6355;color:#ffffff;font-weight:600;text-decoration:none">Choose a new password</a></p>
<p style="margin:0 0 16px;font-size:14px;word-break:break-all"><a href="${href}" style="color:#0b6355">${href}</a></p>
<p style="margin:0 0 8px;font-size:14px;color:#55615d">This link expires in 60 minutes.</p>
<p style="margin:0 0 8px;font-size:14px;color:#55615d">If you did not ask for this, you can ignore this mail.</p>
</td></tr>
</table>
</td></tr>
</table>
</body>
</html>
`;
};

interface MailService {
  settings: Environment;
  path: string;
  url: string;
  headers: Record<string, string>;
  message: (token: string) => ResendEmail | PostmarkEmail;
  accepted: string;
  garbage: [string, Answer][];
}

const services: Record<"resend" | "postmark", MailService> = {
  resend: {
    settings: { MAIL_DRIVER: "resend", RESEND_API_KEY: "re_secret/+=" },
    path: "/emails",
    url: "https://api.resend.com/emails",
    headers: { authorization: "Bearer re_secret/+=", host: "api.resend.com" },
    message: (token) => ({
      from: "Latchkey ü <mail@latchkey.example>",
      to: [email],
      subject: "Reset your password",
      text: resetText(token),
      html: resetHtml(token),
    }),
    accepted: '{"id":"49a3999c-0ce1-4ea6-ab68-afcd6dc2e794"}',
    garbage: [["an object for the id", { body: '{"id":{}}' }]],
  },
  postmark: {
    settings: { MAIL_DRIVER: "postmark", POSTMARK_SERVER_TOKEN: "pm-secret" },
    path: "/email",
    url: "https://api.postmarkapp.com/email",
    headers: { "x-postmark-server-token": "pm-secret", host: "api.postmarkapp.com" },
    message: (token) => ({
      From: "Latchkey ü <mail@latchkey.example>",
      To: email,
      Subject: "Reset your password",
      TextBody: resetText(token),
      HtmlBody: resetHtml(token),
      MessageStream: "outbound",
      TrackOpens: false,
      TrackLinks: "None",
    }),
    accepted: `{"To":"${email}","SubmittedAt":"2026-11-21T07:25:01Z","MessageID":"0a129aee","ErrorCode":0,"Message":"OK"}`,
    garbage: [["an error code of its own", { body: '{"ErrorCode":406,"Message":"Inactive recipient"}' }]],
  },
};

const refusals: [string, Answer][] = [
  ["status 200 and garbage", { body: "OK" }],
  ["status 200 and an empty object", { body: "{}" }],
  ["status 200 and nothing", { body: "" }],
  ["status 401", { status: 401, body: '{"message":"API key is invalid"}' }],
  ["status 422", { status: 422, body: '{"ErrorCode":300,"Message":"Invalid \'To\' address"}' }],
  ["status 429", { status: 429, headers: { "retry-after": "1" }, body: "{}" }],
  ["status 500", { status: 500, body: "oops" }],
  ["a redirect", { status: 307, headers: { location: "https://elsewhere.example/email" }, body: "{}" }],
  ["more than one mebibyte", { body: `{"id":"x","ErrorCode":0}`.padEnd(1_048_577) }],
  ["no headers in time", { stall: "before the headers" }],
  ["no whole body in time", { body: '{"id":"x","ErrorCode":0}', stall: "in the middle of the body" }],
  ["a broken connection", { broken: true }],
];

/** The token in the mail of an outgoing call, found by the link's own spelling. */
const tokenIn = (body = "") => /token=([0-9a-f]{64})\b/.exec(body)?.[1] ?? "no token";

async function forget() {
  await createUser(latchkey.em(), { email, password: null });
  expect(await call(forgotPassword.action, post("/forgot-password", { email }))).toMatchObject({ status: 200 });
}

const jobs = () =>
  latchkey.execute<{ id: string; state: string; data: object; retry_count: number }>(
    "select * from pgboss.job where data->>'task' <> 'purge_expired'",
  );

const isLive = async (token: string) =>
  (await call(resetPassword.action, post("/reset-password", { email, token, password: "", passwordConfirmation: "" })))
    .data.invalidLink === undefined;

describe.each(["resend", "postmark"] as const)("%s", (name) => {
  const service = services[name];
  const { accepted } = service;

  test.each([
    ["at its own address", {}, service.url, service.headers],
    [
      "at another address",
      { MAIL_API_URL: "https://mail.example:8443/v2/" },
      `https://mail.example:8443/v2${service.path}`,
      { ...service.headers, host: "mail.example:8443" },
    ],
  ])("one request hands the mail over, %s", async (_where, settings, url, headers) => {
    latchkey.configure({ ...service.settings, ...settings });
    outgoing.answer("POST", url, { body: accepted });
    await forget();
    expect(outgoing.calls()).toEqual([]);
    await latchkey.drain();

    const [sent] = outgoing.calls();
    expect(outgoing.calls()).toEqual([
      {
        method: "POST",
        url,
        headers: { accept: "application/json", "content-type": "application/json", ...headers },
        body: expect.any(String),
      },
    ]);
    const token = tokenIn(sent?.body);
    expect(JSON.parse(sent?.body ?? "")).toEqual(service.message(token));
    expect(await isLive(token)).toBe(true);
    expect(await jobs()).toEqual([]);
    expect(outgoing.deadlines()).toEqual([5000]);
  });

  test.each([...refusals, ...service.garbage])(
    "answered by %s, the mail is tried again with a new token",
    async (_fault, answer) => {
      latchkey.configure(service.settings);
      outgoing.answer("POST", service.url, answer);
      await forget();
      await latchkey.drain();

      const [failed] = await jobs();
      expect(outgoing.addresses()).toEqual([`POST ${service.url}`]);
      expect(failed).toMatchObject({ state: "retry", data: { task: "mail_password_reset", email }, retry_count: 0 });
      const first = tokenIn(outgoing.calls()[0]?.body);
      const secrets = [first, "re_secret", "pm-secret"];
      for (const secret of secrets) {
        expect(JSON.stringify(failed)).not.toContain(secret);
        expect(log.lines().join()).not.toContain(secret);
      }
      expect(log.events()).toEqual([{ event: "password_reset.requested" }]);

      await latchkey.execute("update pgboss.job set start_after = now() - interval '1 second' where id = ?", [
        failed?.id,
      ]);
      outgoing.answer("POST", service.url, { body: accepted });
      await latchkey.drain();
      const second = tokenIn(outgoing.calls()[1]?.body);
      expect(outgoing.calls()).toHaveLength(2);
      expect(second).not.toBe(first);
      expect(await isLive(second)).toBe(true);
      expect(await jobs()).toEqual([]);
      expect(log.events()).toEqual([{ event: "password_reset.requested" }, { event: "password_reset.sent" }]);
    },
  );
});

test("the log driver prints the mail between its two lines and nothing else", async () => {
  await forget();
  await latchkey.drain();
  const [mail] = latchkey.mails();
  const token = mail?.link?.searchParams.get("token") ?? "";
  expect(latchkey.output()).toBe(`--- mail ---
To: ${email}
From: Latchkey ü <mail@latchkey.example>
Subject: Reset your password

Reset your password:

${resetUrl(token)}

This link expires in 60 minutes.

If you did not ask for this, you can ignore this mail.
--- end mail ---
`);
  expect(outgoing.calls()).toEqual([]);
  expect(await isLive(token)).toBe(true);
});

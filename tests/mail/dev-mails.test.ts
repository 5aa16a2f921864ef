import type { LoaderFunctionArgs } from "@remix-run/node";
import { expect, test } from "vitest";
import { addToPreview } from "#server/mail/log-mailer";
import * as mails from "~/routes/dev.mails._index";
import * as mailHtml from "~/routes/dev.mails.$position";
import * as devSession from "~/routes/dev.session";
import { startLatchkey } from "../support/latchkey";
import { call, get, post } from "../support/route-calls";

const latchkey = startLatchkey();

const mail = (subject: string) => ({
  ...{ to: "ada@example.com", subject, text: `${subject}.`, html: `<p>${subject}</p>` },
  ...{ language: "en" as const, replyTo: null },
});

const newestAsHtml = ({ request }: LoaderFunctionArgs) =>
  mailHtml.loader({ request, params: { position: "0" }, context: {} });

test("the newest mail is listed first", async () => {
  addToPreview(mail("First"));
  addToPreview(mail("Second"));
  const shown = await call(mails.loader, get("/dev/mails"));
  expect(shown.data.slice(0, 2)).toEqual([
    { to: "ada@example.com", subject: "Second", text: "Second." },
    { to: "ada@example.com", subject: "First", text: "First." },
  ]);
});

test("a mail is shown as HTML", async () => {
  addToPreview(mail("Second"));
  const html = await call(newestAsHtml, get("/dev/mails/0"));
  expect(html.data).toBe("<p>Second</p>");
  expect(html.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
});

test("the policy of a mail's HTML allows inline styles alone", async () => {
  addToPreview(mail("Second"));
  const html = await call(newestAsHtml, get("/dev/mails/0"));
  expect(html.headers.get("Content-Security-Policy")).toBe(
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
  );
});

test.each([
  ["localhost", 200],
  ["localhost:3000", 200],
  ["127.0.0.1:3000", 200],
  ["[::1]:3000", 200],
  ["rebound.example", 404],
  ["rebound.example:3000", 404],
  ["localhost.rebound.example", 404],
  ["127.0.0.1.rebound.example:3000", 404],
  ["203.0.113.5:3000", 404],
  ["", 404],
])("the pages of development answer the host %j with %i", async (host, status) => {
  addToPreview(mail("First"));
  const facts = { facts: { host } };
  expect((await call(mails.loader, get("/dev/mails", facts))).status).toBe(status);
  expect((await call(newestAsHtml, get("/dev/mails/0", facts))).status).toBe(status);
  expect((await call(devSession.loader, get("/dev/session", facts))).status).toBe(status);
  const signIn = () => call(devSession.action, post("/dev/session", { email: "ada@example.com" }, facts));
  if (status === 404) expect((await latchkey.unchanged(signIn)).status).toBe(404);
  else expect(await signIn()).toMatchObject({ status: 302, location: "/dashboard" });
});

test("an unknown mail is answered 404", async () => {
  expect((await call(mailHtml.loader, get("/dev/mails/none"))).status).toBe(404);
});

test("with a mail service as driver the mails are answered 404", async () => {
  latchkey.configure({ MAIL_DRIVER: "resend", RESEND_API_KEY: "key", MAIL_FROM: "latchkey@example.com" });
  expect((await call(mails.loader, get("/dev/mails"))).status).toBe(404);
});

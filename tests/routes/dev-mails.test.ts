import { expect, test } from "vitest";
import { addToPreview } from "#server/mail/log-mailer";
import * as mails from "~/routes/dev.mails._index";
import * as mailHtml from "~/routes/dev.mails.$position";
import { startLatchkey } from "../support/latchkey";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey();

const mail = (subject: string) => ({ to: "ada@example.com", subject, text: `${subject}.`, html: `<p>${subject}</p>` });

test("the newest mail is listed first, and the policy of its HTML allows inline styles and nothing else", async () => {
  addToPreview(mail("First"));
  addToPreview(mail("Second"));
  const shown = await call(mails.loader, get("/dev/mails"));
  expect(shown.data.slice(0, 2)).toEqual([
    { to: "ada@example.com", subject: "Second", text: "Second." },
    { to: "ada@example.com", subject: "First", text: "First." },
  ]);
  const html = (await mailHtml.loader({
    params: { position: "0" },
    request: get("/dev/mails/0"),
    context: {},
  })) as Response;
  expect(await html.text()).toBe("<p>Second</p>");
  expect(html.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
  expect(html.headers.get("Content-Security-Policy")).toBe(
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
  );
});

test("an unknown mail is answered 404", async () => {
  expect((await call(mailHtml.loader, get("/dev/mails/none"))).status).toBe(404);
});

test("with a mail service as driver the pages are answered 404", async () => {
  latchkey.configure({ MAIL_DRIVER: "resend", RESEND_API_KEY: "key", MAIL_FROM: "latchkey@example.com" });
  expect((await call(mails.loader, get("/dev/mails"))).status).toBe(404);
});

import { afterAll, beforeAll, expect, test } from "vitest";
import { createEmptyDatabase, startServer } from "../support/server";
import { Visitor } from "../support/visitor";
import { type Postfix, startPostfix } from "./postfix";

let postfix: Postfix;

beforeAll(async () => {
  postfix = await startPostfix();
});

afterAll(() => postfix.stop());

const decode = (message: string) =>
  message
    .replace(/=\r?\n/g, "")
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

test.each([
  ["over TLS", () => postfix.tlsUrl],
  ["without TLS on a loopback address", () => postfix.plainUrl],
])("Postfix delivers mails whose links work %s", async (_how, url) => {
  const database = await createEmptyDatabase("embedded");
  const latchkey = await startServer({
    DATABASE_URL: database.url,
    APP_URL: "https://login.example.com",
    MAIL_DRIVER: "smtp",
    MAIL_FROM: "Example <no-reply@example.com>",
    SMTP_URL: url(),
    NODE_EXTRA_CA_CERTS: postfix.caFile,
  });
  const email = "ada@example.com";
  const visitor = new Visitor(latchkey.url);
  const linkOf = (message: string, path: string) => {
    const link = new RegExp(`https://login\\.example\\.com${path}\\?email=ada%40example\\.com&token=([0-9a-f]{64})`);
    return { email, token: link.exec(decode(message))?.[1] ?? "" };
  };

  await visitor.post("/register", { email });
  const registration = await postfix.nextMessage();
  expect(registration).toMatch(/^Subject: Finish creating your account$/m);
  expect(registration).toMatch(/^From: Example <no-reply@example\.com>$/m);
  expect(registration).toMatch(/^To: ada@example\.com$/m);
  expect(registration).toMatch(/^Delivered-To: ada@example\.com$/m);
  const registered = await visitor.finishRegistration(linkOf(registration, "/register/complete"));
  expect(registered).toMatchObject({ status: 302, location: "/dashboard" });

  await visitor.askForReset(email);
  const reset = await visitor.reset(linkOf(await postfix.nextMessage(), "/reset-password"));
  expect(reset.location).toBe("/login?notice=password_reset");
  expect(await postfix.nextMessage()).toMatch(/^Subject: Your password was changed$/m);
  expect(await latchkey.stop()).toBe(0);
  await database.drop();
});

import { describe, expect, test } from "vitest";
import { emailChangeMail, registrationMail, resetMail } from "#server/mail/messages";
import { configure } from "../support/configure";
import { signInExternally } from "../support/external-sign-in";
import { password, runLatchkey } from "../support/running-latchkey";
import { json, runScriptedProvider } from "../support/scripted-provider";
import { twice } from "../support/twice";

const provider = await runScriptedProvider();
const latchkey = runLatchkey({ ...provider.settings.oidc, APP_URL: "https://latchkey.example" });

configure({});

const renewed = twice("an entirely new password");
const secrets = /[0-9a-f]{64}|token|correct horse|entirely new/i;

async function signIn(): Promise<void> {
  expect((await signInExternally(latchkey.visit())).location).toBe("/dashboard");
}

describe("a notification mail", () => {
  test("is sent after a reset, says how to secure the account and contains no token", async () => {
    const email = "notified@example.com";
    await latchkey.register(email);
    const link = await latchkey.resetLink(email);
    await latchkey.visit().post("/reset-password", { ...link, ...renewed });
    const mail = await latchkey.mailTo(email, "Your password was changed");
    expect(mail.text).toContain("If it was not you");
    expect(mail.text).toContain("https://latchkey.example/forgot-password");
    expect(mail.text).not.toMatch(secrets);
  });

  test("is sent after a provider is linked, says how to secure the account and contains no token", async () => {
    const email = "linked@example.com";
    await latchkey.register(email);
    provider.answerWith({ profile: json({ sub: "linked", email, email_verified: true }) });
    await signIn();
    const mail = await latchkey.mailTo(email, "Sign-in with single sign-on was added");
    expect(mail.text).toContain("If it was not you");
    expect(mail.text).toContain("https://latchkey.example/forgot-password");
    expect(mail.text).toContain("https://latchkey.example/dashboard");
    expect(mail.text).not.toMatch(secrets);
  });
});

describe("a mailed link", () => {
  test("has the configured origin, whatever the request's headers (host header poisoning)", async () => {
    const email = "poisoned@example.com";
    await latchkey.register(email);
    const evil = {
      Origin: "https://evil.example",
      "X-Forwarded-Host": "evil.example",
      "X-Forwarded-Proto": "https",
      "X-Original-URL": "https://evil.example",
      Forwarded: "host=evil.example",
    };
    await latchkey.visit().post("/forgot-password", { email }, evil);
    const { link, text } = await latchkey.mailTo(email, "Reset your password");
    expect(link?.origin).toBe("https://latchkey.example");
    expect(text).not.toContain("evil");
  });

  test("is accepted once, for its own address and purpose", async () => {
    const [one, other] = ["one@example.com", "other@example.com"];
    await latchkey.register(one);
    await latchkey.register(other);
    const link = await latchkey.resetLink(one);
    const use = (path: string, claim: Record<string, string>) => latchkey.visit().post(path, { ...claim, ...renewed });
    expect((await use("/reset-password", { ...link, email: other })).status).toBe(422);
    expect((await use("/register/complete", link)).status).toBe(422);
    expect((await use("/reset-password", { ...link, token: link.token.toUpperCase() })).status).toBe(422);
    expect((await use("/reset-password", { ...link, token: ` ${link.token}` })).status).toBe(422);
    expect((await latchkey.visit().get(`/reset-password?${new URLSearchParams(link)}`)).status).toBe(200);
    const answers = await Promise.all(Array.from({ length: 10 }, () => use("/reset-password", link)));
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9);
    expect((await latchkey.visit().post("/login", { email: other, password })).location).toBe("/dashboard");
  });

  test("is invalid after another link of the address was used", async () => {
    const email = "several@example.com";
    await latchkey.register(email);
    const first = await latchkey.resetLink(email);
    const second = await latchkey.resetLink(email, undefined, 2);
    expect(second.token).not.toBe(first.token);
    expect((await latchkey.visit().post("/reset-password", { ...first, ...renewed })).status).toBe(302);
    expect((await latchkey.visit().post("/reset-password", { ...second, ...renewed })).status).toBe(422);
  });

  test("escapes the special characters of an address", () => {
    const email = "a&b'c`d/e?f=g#h+i%20@example.com";
    const changeMail = (...[language, appUrl, address, token]: Parameters<typeof resetMail>) =>
      emailChangeMail(language, appUrl, address, token, "old@example.com");
    for (const mail of [resetMail, registrationMail, changeMail]) {
      const { text, html } = mail("en", "https://latchkey.example", email, "t".repeat(64));
      const link = new URL(/^https:\S+$/m.exec(text)?.[0] ?? "");
      expect(Object.fromEntries(link.searchParams)).toEqual({ email, token: "t".repeat(64) });
      expect(/href="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&")).toBe(link.href);
      expect(html).not.toContain(email);
    }
  });

  test("is one from another address to which the account changes only after it was opened and confirmed", async () => {
    const [email, newEmail] = ["moves@example.com", "moved@example.com"];
    const visitor = await latchkey.register(email);
    await visitor.post("/dashboard", { intent: "change-email", email: newEmail });
    const { link, text } = await latchkey.mailTo(newEmail, "Confirm your new email address");
    const token = link?.searchParams.get("token") ?? "";
    expect(text).toBe(
      `The account moves@example.com is to get this address. When you confirm it, you log in to that account with this address, and its mails come here.\n\nConfirm your new email address:\n\nhttps://latchkey.example/account/email?email=moved%40example.com&token=${token}\n\nThis link expires in 60 minutes.\n\nIf moves@example.com is not your account, or you did not ask for this, do not confirm it: somebody else’s account would get your address.\n\nThis mail was sent by Latchkey.`,
    );
    expect((await latchkey.mailTo(email, "Your email address is being changed")).text).not.toMatch(secrets);
    for (const path of ["/reset-password", "/register/complete"]) {
      for (const address of [email, newEmail]) {
        expect((await latchkey.visit().post(path, { email: address, token, ...renewed })).status).toBe(422);
      }
    }
    const page = await latchkey.visit().get(`${link?.pathname}${link?.search}`);
    expect(page.status).toBe(200);
    expect(page.headers.get("Cache-Control")).toBe("no-store");
    const post = () => latchkey.visit().post("/account/email", { email: newEmail, token });
    const answers = await Promise.all(Array.from({ length: 10 }, post));
    expect(answers.filter(({ location }) => location === "/login?notice=email_changed")).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(9);
    expect((await latchkey.visit().post("/login", { email: newEmail, password })).location).toBe("/dashboard");
    expect((await latchkey.visit().post("/login", { email, password })).status).toBe(422);
  });
});

import { beforeEach, describe, expect, test } from "vitest";
import type { Environment } from "#server/config";
import { noticeMail } from "#server/features/owner/notices";
import type { NoticeJob } from "#server/queue/jobs";
import { configure } from "../support/configure";

const addresses = { email: "old@example.com", oldEmail: "old@example.com", newEmail: "new@example.com" };
const changed = { task: "mail_email_changed", language: "en", ...addresses } as const;

beforeEach(() => void configure({ APP_URL: "https://login.example" }));

test.each(["mail_new_sign_in", "mail_passkey_added", "mail_provider_linked"] as const)(
  "the mail of %s has one button, which leads to the reset",
  (task) => {
    const { html } = noticeMail({ task, language: "en", email: "ada@example.com", at: "2026-11-22T10:00Z" }, "en");
    const buttons = [...html.matchAll(/bgcolor="#0b6355"[^>]*><a href="([^"]+)"/g)].map(([, url]) => url);
    expect(buttons).toEqual(["https://login.example/forgot-password"]);
    expect(html).toContain('href="https://login.example/dashboard"');
  },
);

test("the mail of a changed address names whom to ask for help", () => {
  configure({ APP_URL: "https://login.example", SUPPORT_EMAIL: "help@example.com" });
  expect(noticeMail(changed, "en").text).toContain("\nIf you cannot log in, write to help@example.com.\n");
});

test("the mail of a changed address speaks of the operators where no address is known", () => {
  const lost = "\nIf you cannot log in, tell the people who run this service.\n";
  expect(noticeMail(changed, "en").text).toContain(lost);
});

describe("the mail of an address that an operator gave", () => {
  const given =
    "The people who run this service gave your account the email address new@example.com, and every browser was signed out.";
  const moved =
    "The people who run this service gave your account another email address, and every browser was signed out. Mails of your account no longer come here.";
  const logIn = "You log in with this address now.";
  const ways =
    "These ways to sign in are from before, and they still work: passkey “iPhone”. Say on your account page which of them are yours.";
  const tell = "If you did not ask for this, tell the people who run this service at once.";
  const write = "If you did not ask for this, write to help@example.com at once.";
  const account = "https://login.example/dashboard";
  const support = { SUPPORT_EMAIL: "help@example.com" };
  const passwordsOff = { IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret", PASSWORDS: "off" };
  const set = { ...changed, task: "mail_email_set" } as const;
  const toNew = { ...set, email: set.newEmail };
  const questioned = { passkeys: ["iPhone"], provider: false };

  test.each<[string, NoticeJob, Environment, string[]]>([
    ["the new address", toNew, {}, [given, logIn, tell]],
    ["the new address with a support address", toNew, support, [given, logIn, write]],
    ["the new address with PASSWORDS=off", toNew, passwordsOff, [given, tell]],
    ["the new address of an account with a passkey", { ...toNew, questioned }, {}, [given, logIn, tell, ways, account]],
    ["the old address with PASSWORDS=off", set, { ...passwordsOff, ...support }, [moved, write]],
  ])("to %s says who did it, and what to do", (_to, job, settings, paragraphs) => {
    configure({ APP_URL: "https://login.example", ...settings });
    const [written] = noticeMail(job, "en").text.split("\n\nThis mail was sent by Latchkey.");
    expect(written?.split("\n\n")).toEqual(paragraphs);
  });
});

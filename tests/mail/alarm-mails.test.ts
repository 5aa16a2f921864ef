import { beforeEach, expect, test } from "vitest";
import { noticeMail } from "#server/features/owner/notices";
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

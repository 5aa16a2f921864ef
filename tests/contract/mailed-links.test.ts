import { expect, test } from "vitest";
import { emailChangeMail, registrationMail, resetMail } from "#server/mail/messages";
import { configure } from "../support/configure";

test("a mailed link escapes its address in both parts", { tags: ["1.1.2", "1.2.1", "1.2.2"] }, () => {
  configure({ APP_URL: "https://latchkey.example" });
  const email = "a&b'c`d/e?f=g#h+i%20@example.com";
  const changeMail = (...parameters: Parameters<typeof resetMail>) => emailChangeMail(...parameters, "old@example.com");
  for (const mail of [resetMail, registrationMail, changeMail]) {
    const { text, html } = mail("en", email, "t".repeat(64));
    const link = new URL(/^https:\S+$/m.exec(text)?.[0] ?? "");
    expect(Object.fromEntries(link.searchParams)).toEqual({ email, token: "t".repeat(64) });
    expect(/href="([^"]+)"/.exec(html)?.[1]?.replaceAll("&amp;", "&")).toBe(link.href);
    expect(html).not.toContain(email);
  }
});

import { describe, expect, test } from "vitest";
import type { Environment } from "#server/config";
import { noticeMail } from "#server/features/owner/notices";
import { type Language, languages } from "#server/languages/languages";
import { mailTextsIn, texts } from "#server/languages/texts";
import { fill, momentIn, type Plural, templateOf } from "#server/languages/translate";
import * as messages from "#server/mail/messages";
import type { Message } from "#server/mail-services/service";
import type { NoticeJob } from "#server/queue/jobs";
import { configure } from "../support/configure";

const everyLanguage = Object.keys(languages) as Language[];
const translations = everyLanguage.filter((language) => language !== "en");

type Entries = [key: string, text: string | Plural][];

function entriesOf(language: Language): Entries {
  const parts = Object.entries(
    texts[language] as unknown as Record<string, Record<string, Record<string, string | Plural>>>,
  );
  return parts
    .flatMap(([part, sections]) =>
      Object.entries(sections).flatMap(([section, entries]) =>
        Object.entries(entries).map(([name, text]): Entries[number] => [`${part}.${section}.${name}`, text]),
      ),
    )
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

const forms = (text: string | Plural) => (typeof text === "string" ? [text] : Object.values(text));

const placeholders = (text: string) => [...new Set(text.match(/\{\w+\}|<\/?\w+>/g))].sort();

describe.each(everyLanguage)("the texts in %s", (language) => {
  const everyForm = () =>
    entriesOf(language).flatMap(([key, text]) => forms(text).map((form): [string, string] => [key, form]));

  test("are not empty", () => {
    for (const [key, form] of everyForm()) expect([key, form, form !== ""]).toEqual([key, form.trim(), true]);
  });

  test("have no other brackets than those of values or elements", () => {
    for (const [key, form] of everyForm())
      expect([key, form.replace(/\{\w+\}|<\/?\w+>/g, "")]).toEqual([key, expect.stringMatching(/^[^{}<>]*$/)]);
  });

  test("have a form for every number that is counted", () => {
    const rules = new Intl.PluralRules(languages[language].locale);
    const categories = new Set(Array.from({ length: 1_000 }, (_, index) => rules.select(index + 1)));
    for (const [key, text] of entriesOf(language)) {
      if (typeof text === "string") continue;
      for (const category of categories)
        expect([key, category, text[category]]).toEqual([key, category, expect.any(String)]);
    }
  });
});

describe.each(translations)("the translation into %s", (language) => {
  test("has the placeholders of the English texts", () => {
    const english = new Map(entriesOf("en"));
    for (const [key, text] of entriesOf(language)) {
      const [first = ""] = forms(english.get(key) ?? "").slice(-1);
      const expected = placeholders(first);
      for (const form of forms(text)) {
        // A plural form may say the number as a word.
        const count = typeof text === "string" ? [] : ["{count}"];
        const named = (placeholders: string[]) => [...new Set([...placeholders, ...count])].sort();
        expect([key, named(placeholders(form))]).toEqual([key, named(expected)]);
      }
    }
  });

  test("leaves no text in English", () => {
    const english = new Map(entriesOf("en"));
    const same = entriesOf(language).filter(([key, text]) => typeof text === "string" && text === english.get(key));
    const words = same.map(([, text]) => text).filter((text) => /\p{L}{2}/u.test(String(text).replace(/\{\w+\}/g, "")));
    const alike: Partial<Record<Language, string[]>> = { de: ["Name", "Passkey"], fr: ["Application"] };
    expect(words).toEqual(alike[language] ?? []);
  });
});

test("in Arabic every address is isolated: one that begins with a digit would be reordered", () => {
  const bare = /(?<!\u2066)\{(?:email|oldEmail|newEmail)\}|\{(?:email|oldEmail|newEmail)\}(?!\u2069)/;
  const addressed = entriesOf("ar").flatMap(([, text]) => forms(text).filter((form) => /\{\w*[eE]mail\}/.test(form)));
  expect(addressed.length).toBeGreaterThan(0);
  expect(addressed.filter((form) => bare.test(form))).toEqual([]);
});

describe("a text", () => {
  const counted = { one: "{count} minute", other: "{count} minutes" };

  test.each([
    ["en", 1, "1 minute"],
    ["en", 1234, "1,234 minutes"],
    ["de", 1234, "1.234 minutes"],
    ["ar", 1234, "1,234 minutes"],
  ] as const)("in %s counts %d as %j", (language, count, expected) => {
    const template = templateOf(language, { a: { b: counted } }, "a.b", { count });
    expect(fill(language, template, { count })).toBe(expected);
  });

  test("is not filled in twice: a value may look like a placeholder", () => {
    expect(fill("en", "{a} and {b}", { a: "{b}", b: "<b>$&</b>" })).toBe("{b} and <b>$&</b>");
  });
});

test.each([
  ["en", "1 November 2026 at 09:05 UTC"],
  ["de", "1. November 2026 um 09:05 UTC"],
  ["fr", "1 novembre 2026 à 09:05 UTC"],
  ["es", "1 de noviembre de 2026 a las 09:05 UTC"],
  ["ja", "2026年11月1日 09:05 UTC"],
  ["ar", "1 نوفمبر 2026 في 09:05 UTC"],
] as const)("a moment in %s is %s", (language, expected) => {
  // The versions of ICU differ in the space and in the word before the time.
  const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, " ").replace(/[\u200e\u200f]/g, "");
  expect(plain(momentIn(language, new Date("2026-11-01T09:05:59Z")))).toBe(expected);
});

const passwordsOff = { IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret", PASSWORDS: "off" };

describe.each(everyLanguage)("a mail in %s", (language) => {
  const addresses = { oldEmail: "ada@example.com", newEmail: "lovelace@example.com" };
  const email = "ada@example.com";
  const token = "f".repeat(64);
  const notices = {
    mail_password_changed: {},
    mail_password_replaced: {},
    mail_password_changed_by_owner: {},
    mail_password_removed: {},
    mail_new_sign_in: { browser: "Firefox", at: new Date(0).toISOString() },
    mail_provider_linked: {},
    mail_provider_unlinked: {},
    mail_passkey_added: {},
    mail_passkey_removed: {},
    mail_account_deleted: {},
    mail_token_created: { origin: "https://app.example", expiresAt: new Date(0).toISOString() },
    mail_email_changing: { newEmail: addresses.newEmail },
    mail_email_changed: addresses,
    mail_email_set: addresses,
  } satisfies Record<NoticeJob["task"], Partial<NoticeJob>>;
  const others = [
    { task: "mail_email_changed", ...addresses, email: addresses.newEmail },
    { task: "mail_email_set", ...addresses, email: addresses.newEmail },
    { task: "mail_new_sign_in", ...notices.mail_new_sign_in, by: "passkey" },
    { task: "mail_password_changed", questioned: { passkeys: ["iPhone", "a.example"], provider: true } },
  ] as const;
  const written = (settings: Environment = {}) => {
    configure(settings);
    const jobs = [...Object.entries(notices).map(([task, data]) => ({ task, ...data })), ...others];
    const told = jobs.map((job) => {
      const notice = { email, language, ...job } as NoticeJob;
      return [String(Object.values(job)), noticeMail(notice, language)] as const;
    });
    const letters = {
      resetMail: messages.resetMail(language, email, token, { provider: null, passkeys: 0 }),
      registrationMail: messages.registrationMail(language, email, token),
      newAccountMail: messages.newAccountMail(language, email, { token }),
      invitedMail: messages.invitedMail(language, email, { token, days: 7 }),
      accountExistsMail: messages.accountExistsMail(language),
      emailChangeMail: messages.emailChangeMail(language, addresses.newEmail, token, addresses.oldEmail),
      addressTakenMail: messages.addressTakenMail(language),
    } satisfies Record<Exclude<Extract<keyof typeof messages, `${string}Mail`>, "testMail">, Message>;
    const newAccountAtProvider = messages.newAccountMail(language, email, { provider: "Google" });
    return { ...Object.fromEntries(told), ...letters, newAccountAtProvider };
  };

  test("has no token when it is a notice", () => {
    const { resetMail, registrationMail, newAccountMail, invitedMail, emailChangeMail, ...without } = written();
    for (const { text, html } of [resetMail, registrationMail, newAccountMail, invitedMail, emailChangeMail])
      expect(text && html).toContain(token);
    for (const { text, html } of Object.values(without)) expect(`${text}${html}`).not.toMatch(/token=/);
  });

  describe("with PASSWORDS=off", () => {
    const mails = () => {
      const { resetMail, registrationMail, newAccountMail, emailChangeMail, ...others } = written(passwordsOff);
      return Object.entries(others);
    };

    test("leads to no page for a password or a new account", () => {
      for (const [, { text }] of mails()) expect(text).not.toMatch(/\/(?:forgot-password|reset-password|register)/);
    });

    test("leads to a sign-in at the provider, if no operator made the change", () => {
      for (const [name, { text }] of mails())
        expect(/Google|\/login/.test(text), name).toBe(!name.startsWith("mail_email_set"));
    });
  });

  test("has the attributes of its language", () => {
    for (const { html } of Object.values(written()))
      expect(html).toContain(`<html lang="${language}" dir="${languages[language].direction}">`);
  });

  test("fills in every value", () => {
    for (const { subject, text } of Object.values(written())) expect(`${subject}${text}`).not.toMatch(/[{}<>]/);
  });

  test("has a subject of one line", () => {
    for (const { subject } of Object.values(written())) expect(subject).not.toMatch(/[\r\n]/);
  });

  test("has its subject as title", () => {
    for (const { subject, html } of Object.values(written())) expect(html).toContain(`<title>${subject}</title>`);
  });

  test("says in a sentence of both parts who sent it", () => {
    const sentence = mailTextsIn(language)("common.sentBy", { brand: "Latchkey" });
    for (const { text, html } of Object.values(written())) {
      expect(text).toContain(`\n\n${sentence}\n`);
      expect(html).toContain(`>${sentence}<`);
    }
  });

  test("has the same links as in English", () => {
    const linksOf = (text: string) => text.match(/https:\S+/g);
    const inEnglish = messages.resetMail("en", "ada@example.com", "f".repeat(64), { provider: null, passkeys: 0 });
    expect(linksOf(written().resetMail.text)).toEqual(linksOf(inEnglish.text));
    expect(written().resetMail.text.split("\n\n")[0]).toBe(mailTextsIn(language)("reset.lead"));
  });
});

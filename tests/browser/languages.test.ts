import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { en } from "#server/languages/en";
import { type Language, languages } from "#server/languages/languages";
import { answersIn, mailTextsIn, type PageTexts, texts } from "#server/languages/texts";
import { translator } from "#server/languages/translate";
import { password } from "./registration";
import { arrive, linkIn, signInAtProvider, startSite } from "./site";
import { overflow, photograph, violations, wcag } from "./survey";

const site = startSite({ SUPPORT_EMAIL: "help@example.com" });

const everyLanguage = Object.keys(languages) as Language[];
const photographed: readonly Language[] = ["de", "ja", "ar"]; // long words, no spaces, right to left
const themes = ["light", "dark"] as const;
const nobody = { email: "nobody@example.com", token: "0".repeat(64) };

const pageTexts = (language: Language) => translator<PageTexts>(language, texts[language].pages);

/** Every English text, as far as it is one piece and the language says something else. */
function englishTexts(language: Language): Set<string> {
  const found = new Set<string>();
  for (const part of ["pages", "answers"] as const) {
    for (const [section, entries] of Object.entries(en[part])) {
      for (const [name, text] of Object.entries(entries)) {
        const own = (texts[language][part] as Record<string, Record<string, unknown>>)[section]?.[name];
        if (typeof text === "string" && text !== own) found.add(text);
      }
    }
  }
  return found;
}

/** The pieces of text that a reader or a screen reader gets. */
const shownTexts = (page: Page) =>
  page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const shown = [document.title];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!/^(?:SCRIPT|STYLE)$/.test(node.parentElement?.tagName ?? "")) shown.push(node.textContent?.trim() ?? "");
    }
    for (const element of document.querySelectorAll("[aria-label], [alt], [placeholder], [title]")) {
      for (const name of ["aria-label", "alt", "placeholder", "title"]) shown.push(element.getAttribute(name) ?? "");
    }
    return shown;
  });

/** Texts that do not fit into their element. */
const cutTexts = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("h1, h2, label, button, a, p, summary, small, dd, time")]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1 && clientWidth > 0)
      .map(({ textContent }) => textContent),
  );

/** Looks at a page in both themes at two widths, and expects nothing English, cut or inaccessible. */
async function look(page: Page, language: Language, state: string): Promise<string[]> {
  const problems: string[] = [];
  await page.locator("button[aria-busy=true]").waitFor({ state: "detached" });
  const english = englishTexts(language);
  for (const text of await shownTexts(page)) if (english.has(text)) problems.push(`English: ${text}`);
  const { lang, dir } = await page.evaluate(() => {
    const { lang, dir } = document.documentElement;
    return { lang, dir };
  });
  if (lang !== language || dir !== languages[language].direction) problems.push(`lang=${lang} dir=${dir}`);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 740 });
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      if (width === 320) problems.push(...(await violations(page, [...wcag, "best-practice"])));
      if (photographed.includes(language) && (width === 320) === (colorScheme === "dark")) {
        await photograph(page, `${language}-${state}-${width}`);
      }
    }
    if ((await overflow(page)) > 0) problems.push(`overflow at ${width}`);
    problems.push(...(await cutTexts(page)).map((text) => `cut at ${width}: ${text}`));
  }
  return problems.map((problem) => `${state}: ${problem}`);
}

/** Registers, fails, recovers and deletes the account as a visitor of the language; looks at each page on the way. */
async function visitEveryPage(page: Page, language: Language, see: (state: string) => Promise<void>): Promise<void> {
  const t = pageTexts(language);
  const answers = answersIn(language);
  const mails = mailTextsIn(language);
  const email = `${language}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).first().click();
  const open = (label: string) => page.locator("summary", { hasText: label }).first().click();

  await page.goto("/register");
  await arrive(page, t("register.title"));
  await see("register");
  await field(t("common.email")).fill(email);
  await press(t("register.next"));
  await arrive(page, t("sent.title"));
  await see("register-sent");

  await page.goto(linkIn(await site.mail(email, mails("registration.subject"))));
  await arrive(page, t("complete.title"));
  await field(t("password.new")).fill(password);
  await field(t("password.newAgain")).fill("something else");
  await see("complete");
  await press(t("complete.submit"));
  await page.getByText(answers("password.unconfirmed")).waitFor();
  await see("complete-unconfirmed");
  await field(t("password.new")).fill(password);
  await field(t("password.newAgain")).fill(password);
  await press(t("complete.submit"));
  await arrive(page, t("common.accountTitle"));
  await see("account");

  for (const label of ["account.changePassword", "account.changeEmail", "account.delete"] as const)
    await open(t(label));
  await see("account-open");
  await field(t("account.newEmail")).fill(email);
  await press(t("account.changeEmailSend"));
  await page.getByText(answers("account.ownEmail")).waitFor();
  await see("account-refused");
  await field(t("account.newEmail")).fill(`new-${email}`);
  await press(t("account.changeEmailSend"));
  await page
    .getByRole("status")
    .filter({ hasText: `new-${email}` })
    .waitFor();
  await see("account-email-asked");
  await page.goto(linkIn(await site.mail(`new-${email}`, mails("emailChange.subject"))));
  await arrive(page, t("confirmEmail.title"));
  await see("confirm-email");
  await page.goto(`/account/email?${new URLSearchParams(nobody)}`);
  await press(t("confirmEmail.submit"));
  await page.getByText(answers("link.invalid")).waitFor();
  await see("confirm-email-invalid");

  await page.goto("/dashboard");
  await press(t("account.logOut"));
  await arrive(page, t("common.logIn"));
  await see("login");
  await field(t("common.email")).fill(email);
  await field(t("common.password")).fill("wrong");
  await press(t("common.logIn"));
  await page.getByText(answers("login.wrong")).waitFor();
  await see("login-refused");

  await page.goto("/forgot-password");
  await arrive(page, t("common.forgotPassword"));
  await see("forgot");
  await field(t("common.email")).fill(email);
  await press(t("forgot.send"));
  await arrive(page, t("sent.title"));
  await see("forgot-sent");
  await page.goto(`/reset-password?${new URLSearchParams(nobody)}`);
  await field(t("password.new")).fill(password);
  await field(t("password.newAgain")).fill(password);
  await press(t("reset.submit"));
  await page.getByText(answers("link.invalidReset")).waitFor();
  await see("reset-invalid");
  await page.goto(linkIn(await site.mail(email, mails("reset.subject"))));
  await arrive(page, t("reset.title"));
  await field(t("password.new")).fill(`${password}!`);
  await field(t("password.newAgain")).fill(`${password}!`);
  await press(t("reset.submit"));
  await page.getByText(t("login.passwordReset")).waitFor();
  await see("login-password-reset");

  await field(t("common.email")).fill(email);
  await field(t("common.password")).fill(`${password}!`);
  await press(t("common.logIn"));
  await arrive(page, t("common.accountTitle"));
  await open(t("account.delete"));
  await field(t("account.deleteConfirm")).fill(email);
  await press(t("account.deleteForGood"));
  await arrive(page, t("deleted.title"));
  await see("deleted");
  await page.goto("/login?notice=idp_failed");
  await see("login-idp-failed");
  const provider = answers("provider.singleSignOn");
  await page.getByRole("link", { name: t("common.continueWith", { provider }) }).click();
  await signInAtProvider(page, crypto.randomUUID());
  await arrive(page, t("common.accountTitle"));
  await see("account-only-provider");
  await page.goto("/nowhere");
  await arrive(page, t("errors.title404"));
  await see("error-404");
  await page.goto("/logout");
  await arrive(page, t("errors.title405"));
  await see("error-405");
}

describe.each(everyLanguage)("in the language %s", (language) => {
  test("every page is accessible, fits, and says nothing in English", { timeout: 300_000 }, async () => {
    const page = await site.visit({ bypassCSP: true, reducedMotion: "reduce", locale: language });
    const problems: string[] = [];
    await visitEveryPage(page, language, async (state) => {
      problems.push(...(await look(page, language, state)));
    });
    expect(problems).toEqual([]);
  });
});

test.each(["de", "ar"] as const)(
  "in the language %s, every flow works without JavaScript",
  { timeout: 120_000 },
  async (language) => {
    const page = await site.visit({ javaScriptEnabled: false, locale: language });
    await visitEveryPage(page, language, async () => {});
  },
);

test.each([true, false])("the switch keeps the page and its query, with JavaScript: %s", async (javaScriptEnabled) => {
  const page = await site.visit({ javaScriptEnabled, locale: "fr" });
  await page.goto("/forgot-password?email=ada%40example.com");
  await arrive(page, texts.fr.pages.common.forgotPassword);
  const choose = (name: string) => page.getByRole("button", { name, exact: true }).press("Enter");
  await choose("العربية");
  await arrive(page, texts.ar.pages.common.forgotPassword);
  expect(page.url()).toBe(`${site.url()}/forgot-password?email=ada%40example.com`);
  expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
  expect(await page.getByRole("button", { name: "العربية" }).getAttribute("aria-current")).toBe("true");
  await page.goto("/login");
  await arrive(page, texts.ar.pages.common.logIn);
  await choose("English");
  await arrive(page, "Log in");
  expect(await page.locator("html").getAttribute("dir")).toBe("ltr");
});

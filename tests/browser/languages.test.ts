import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { type Language, languages } from "#server/languages/languages";
import { answersIn, mailTextsIn, type PageTexts, texts } from "#server/languages/texts";
import { type Plural, translator } from "#server/languages/translate";
import { navigate, postFromAnotherSite, refused } from "./refused";
import { password } from "./registration";
import { arrive, linkIn, signInAtProvider, startSite } from "./site";
import { startSiteOnCluster } from "./site-on-cluster";
import { overflow, photograph, surveyed, violations, wcag } from "./survey";

const site = startSite({ SUPPORT_EMAIL: "help@example.com" });
const closedSite = startSite({ REGISTRATION: "closed" });

const everyLanguage = Object.keys(languages) as Language[];
const photographed: readonly Language[] = ["de", "ja", "ar"]; // long words, no spaces, right to left
const checkedOnDesktop: readonly Language[] = ["de", "ar"]; // one of each direction: the rules do not read the words
const themes = ["light", "dark"] as const;
const nobody = { email: "nobody@example.com", token: "0".repeat(64) };

const pageTexts = (language: Language) => translator<PageTexts>(language, texts[language].pages);

/** The pieces between the elements of every text that a page can show, in every form. */
function piecesOf(language: Language): string[] {
  const { pages, answers } = texts[language];
  return [pages, answers]
    .flatMap((part) => Object.values(part).flatMap((section): (string | Plural)[] => Object.values(section)))
    .flatMap((text) => (typeof text === "string" ? [text] : Object.values(text)))
    .flatMap((text) => text.split(/<\/?\w+>/).map((piece) => piece.trim()));
}

const placeholder = /\{\w+\}/;
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Matches the English pieces, with any values, that the language says in other words. */
function englishTexts(language: Language): RegExp {
  const own = new Set(piecesOf(language));
  const patterns = piecesOf("en")
    .filter((piece) => !own.has(piece))
    .map((piece) => piece.split(placeholder))
    .filter((words) => /\p{L}/u.test(words.join("")))
    .map((words) => words.map(escaped).join(".+"));
  return new RegExp(`^(?:${patterns.join("|") || "(?!)"})$`);
}

/** The pieces of text that a reader or a screen reader gets. */
const shownTexts = (page: Page) =>
  page.evaluate(() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const shown = document.title.split(" · ");
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
  for (const text of await shownTexts(page)) if (english.test(text)) problems.push(`English: ${text}`);
  const { lang, dir } = await page.evaluate(() => {
    const { lang, dir } = document.documentElement;
    return { lang, dir };
  });
  if (lang !== language || dir !== languages[language].direction) problems.push(`lang=${lang} dir=${dir}`);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 740 });
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      if (width === 320 || checkedOnDesktop.includes(language)) {
        problems.push(...(await violations(page, [...wcag, "best-practice"])));
      }
      if (photographed.includes(language) && (width === 320) === (colorScheme === "dark")) {
        await photograph(page, `${language}-${state}-${width}`);
      }
    }
    if ((await overflow(page)) > 0) problems.push(`overflow at ${width}`);
    problems.push(...(await cutTexts(page)).map((text) => `cut at ${width}: ${text}`));
  }
  return problems.map((problem) => `${language}, ${state}: ${problem}`);
}

/** Goes through pages as a visitor of the language, and calls `see` on each. */
type Visit = (page: Page, language: Language, see: (state: string) => Promise<void>) => Promise<void>;

/** Registers, connects the provider, fails, recovers and deletes the account. */
const visitEveryPage: Visit = async (page, language, see) => {
  const t = pageTexts(language);
  const answers = answersIn(language);
  const mails = mailTextsIn(language);
  const email = `${language}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const provider = answers("provider.singleSignOn");
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).first().click();
  const open = (label: string) => page.locator("summary", { hasText: label }).first().click();
  const choosePassword = async (value: string, again = value) => {
    await field(t("password.new")).fill(value);
    await field(t("password.newAgain")).fill(again);
  };
  const logIn = async (value: string) => {
    await field(t("common.email")).fill(email);
    await field(t("common.password")).fill(value);
    await press(t("common.logIn"));
  };

  await page.goto("/register");
  await arrive(page, t("register.title"));
  await see("register");
  await field(t("common.email")).fill(email);
  await press(t("register.next"));
  await arrive(page, t("sent.title"));
  await see("register-sent");

  await page.goto(linkIn(await site.mail(email, mails("registration.subject"))));
  await arrive(page, t("complete.title"));
  await choosePassword(password, "something else");
  await see("complete");
  await press(t("complete.submit"));
  await page.getByText(answers("password.unconfirmed")).waitFor();
  await see("complete-unconfirmed");
  await choosePassword(password);
  await press(t("complete.submit"));
  await arrive(page, t("common.accountTitle"));
  await see("account");

  await press(t("account.connect", { provider }));
  await signInAtProvider(page, crypto.randomUUID());
  await page.getByText(t("account.connected", { provider })).waitFor();
  await open(t("account.disconnect"));
  await see("account-connected");
  await press(t("account.disconnectProvider", { provider }));
  await page.getByText(answers("account.disconnected")).waitFor();
  await see("account-disconnected");

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
  await logIn("wrong");
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
  await choosePassword(password);
  await press(t("reset.submit"));
  await page.getByText(answers("link.invalidReset")).waitFor();
  await see("reset-invalid");
  await page.goto(linkIn(await site.mail(email, mails("reset.subject"))));
  await arrive(page, t("reset.title"));
  await choosePassword(`${password}!`);
  await press(t("reset.submit"));
  await page.getByText(t("login.passwordReset")).waitFor();
  await see("login-password-reset");

  await logIn(`${password}!`);
  await arrive(page, t("common.accountTitle"));
  await open(t("account.delete"));
  await field(t("account.deleteConfirm")).fill(email);
  await press(t("account.deleteForGood"));
  await arrive(page, t("deleted.title"));
  await see("deleted");
  await page.goto("/login?notice=idp_failed");
  await see("login-idp-failed");
  await page.getByRole("link", { name: t("common.continueWith", { provider }) }).click();
  await arrive(page, t("common.accountTitle"));
  await see("account-only-provider");
};

const visitErrors: Visit = async (page, language, see) => {
  const t = pageTexts(language);
  for (const status of [400, 404, 405, 413, 415] as const) {
    await navigate(page, refused[status]);
    await arrive(page, t(`errors.title${status}`));
    await see(`error-${status}`);
  }
  await postFromAnotherSite(page, site.url());
  await arrive(page, t("errors.title403"));
  await see("error-403");
};

const visitThrottledLogin: Visit = async (page, language, see) => {
  const t = pageTexts(language);
  const form = { email: `${crypto.randomUUID()}@example.com`, password: "wrong" };
  for (let attempt = 0; attempt < 10; attempt++) {
    await page.request.post("/login", { headers: { Origin: site.url() }, form });
  }
  await page.goto("/login");
  await page.getByLabel(t("common.email"), { exact: true }).fill(form.email);
  await page.getByLabel(t("common.password"), { exact: true }).fill(form.password);
  await page.getByRole("button", { name: t("common.logIn"), exact: true }).click();
  await page.getByText(answersIn(language)("login.tooMany", { count: 15 })).waitFor();
  await see("login-throttled");
};

const visitClosedRegistration: Visit = async (page, language, see) => {
  const t = pageTexts(language);
  await page.goto("/register");
  await page.getByText(t("register.closed")).waitFor();
  await see("register-closed");
  await page.goto("/login");
  await arrive(page, t("common.logIn"));
  await see("login-registration-closed");
};

/** Expects nothing English, cut or inaccessible on the pages of a visit. */
async function lookAround(at: typeof site, language: Language, visit: Visit): Promise<void> {
  const page = await at.visit({ ...surveyed, locale: language });
  const problems: string[] = [];
  await visit(page, language, async (state) => {
    problems.push(...(await look(page, language, state)));
  });
  expect(problems).toEqual([]);
}

describe.each(everyLanguage)("in the language %s", (language) => {
  test.each([
    ["every page", site, visitEveryPage],
    ["every page of an error", site, visitErrors],
    ["a login after too many", site, visitThrottledLogin],
    ["every page of a closed registration", closedSite, visitClosedRegistration],
  ] as const)("%s is accessible, fits, and says nothing in English", { timeout: 300_000 }, (_what, at, visit) =>
    lookAround(at, language, visit),
  );
});

describe("while the database is stopped", () => {
  const stoppedSite = startSiteOnCluster();

  const visitUnavailable: Visit = async (page, language, see) => {
    await page.context().addCookies([{ name: "session", value: "0".repeat(64), url: stoppedSite.url() }]);
    await page.goto("/dashboard");
    await arrive(page, pageTexts(language)("errors.title503"));
    await see("error-503");
  };

  test("the page that says so is accessible, fits, and says nothing in English", { timeout: 300_000 }, async () => {
    await stoppedSite.cluster().stop();
    try {
      for (const language of everyLanguage) await lookAround(stoppedSite, language, visitUnavailable);
    } finally {
      await stoppedSite.cluster().start();
    }
  });
});

test.each(["de", "ar"] as const)(
  "in the language %s, every flow works without JavaScript",
  { timeout: 120_000 },
  async (language) => {
    const page = await site.visit({ javaScriptEnabled: false, locale: language });
    await visitEveryPage(page, language, async () => {});
    await visitErrors(page, language, async () => {});
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

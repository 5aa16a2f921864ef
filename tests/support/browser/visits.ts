import type { Page } from "playwright-core";
import type { Language } from "#server/languages/languages";
import { answersIn, mailTextsIn, type PageTexts, texts } from "#server/languages/texts";
import { translator } from "#server/languages/translate";
import { password } from "./registration";
import { arrive, linkIn, type Site, signInAtProvider } from "./site";

interface Visited {
  site: Site;
  page: Page;
  language: Language;
  see: (state: string) => Promise<void>;
}

export type Visit = (visited: Visited) => Promise<void>;

const nobody = { email: "nobody@example.com", token: "0".repeat(64) };

export const pageTexts = (language: Language) => translator<PageTexts>(language, texts[language].pages);

function visitorOf(visited: Visited) {
  const { page, language } = visited;
  const t = pageTexts(language);
  const answers = answersIn(language);
  const email = `${language}-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const press = (name: string) => page.getByRole("button", { name, exact: true }).first().click();
  return {
    ...visited,
    t,
    answers,
    mails: mailTextsIn(language),
    email,
    provider: answers("provider.singleSignOn"),
    field,
    press,
    open: (label: string) => page.locator("summary", { hasText: label }).first().click(),
    async choosePassword(value: string, again = value) {
      await field(t("common.password")).fill(value);
      await field(t("password.again")).fill(again);
    },
    async logIn(value: string) {
      await field(t("common.email")).fill(email);
      await field(t("common.password")).fill(value);
      const name = new RegExp(`^${t("common.logIn")}`); // it may be marked as the last way
      await page.getByRole("button", { name }).first().click();
    },
  };
}

type Visitor = ReturnType<typeof visitorOf>;

async function visitRegistration(visitor: Visitor): Promise<void> {
  const { site, page, see, t, answers, mails, email, field, press, choosePassword } = visitor;
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
}

async function visitTokens({ page, see, t, answers, field, press }: Visitor): Promise<void> {
  await page.getByRole("link", { name: t("tokens.link") }).click();
  await arrive(page, t("tokens.title"));
  await see("tokens-none");
  await field(t("tokens.name")).fill("  ");
  await press(t("tokens.make"));
  await page.getByText(answers("tokens.enterName")).waitFor();
  await see("tokens-refused");
  await field(t("tokens.name")).fill("Build");
  await press(t("tokens.make"));
  await page.getByText(t("tokens.shownOnce", { name: "Build" })).waitFor();
  await see("tokens-made");
  await press(t("account.remove"));
  await page.getByText(answers("tokens.removed")).waitFor();
  await page.getByRole("link", { name: t("common.accountTitle") }).click();
  await arrive(page, t("common.accountTitle"));
}

async function visitAccount(visitor: Visitor): Promise<void> {
  const { site, page, see, t, answers, mails, email, provider, field, press, open, logIn } = visitor;
  await press(t("account.connect", { provider }));
  await signInAtProvider(page, crypto.randomUUID());
  await page.getByText(t("account.connected", { provider })).waitFor();
  await open(t("account.disconnect"));
  await see("account-connected");
  await press(t("account.disconnectProvider", { provider }));
  await page.getByText(t("account.disconnected")).waitFor();
  await see("account-disconnected");
  await page.getByRole("link", { name: t("sessions.activity") }).click();
  await arrive(page, t("activity.title"));
  await see("activity");
  await page.getByRole("link", { name: t("common.accountTitle") }).click();
  await arrive(page, t("common.accountTitle"));
  await visitTokens(visitor);

  const opened = new RegExp(`^(?:${t("account.change")}|${t("account.delete")})$`);
  for (const summary of await page.locator("summary", { hasText: opened }).all()) await summary.click();
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
  await press(t("confirmEmail.show"));
  await page.getByRole("button", { name: t("confirmEmail.submit") }).waitFor();
  await see("confirm-email-account");
  await page.goto(`/account/email?${new URLSearchParams(nobody)}`);
  await page.getByText(t("link.dead")).waitFor();
  await see("confirm-email-dead");
  await open(t("link.formAnyway"));
  await press(t("confirmEmail.show"));
  await page.getByText(answers("link.invalid")).waitFor();
  await see("confirm-email-invalid");

  await page.goto("/dashboard");
  await press(t("account.logOut"));
  await arrive(page, t("common.logIn"));
  await see("login");
  await logIn("wrong");
  await page.getByText(answers("login.wrong")).waitFor();
  await see("login-refused");
}

async function visitReset(visitor: Visitor): Promise<void> {
  const { site, page, see, t, answers, mails, email, field, press, open, choosePassword } = visitor;
  await page.goto("/forgot-password");
  await arrive(page, t("common.forgotPassword"));
  await see("forgot");
  await field(t("common.email")).fill(email);
  await press(t("forgot.send"));
  await arrive(page, t("sent.title"));
  await see("forgot-sent");
  await page.goto(`/reset-password?${new URLSearchParams(nobody)}`);
  await see("reset-dead");
  await open(t("link.formAnyway"));
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
}

async function visitDeletion(visitor: Visitor): Promise<void> {
  const { page, see, t, email, provider, field, press, open, logIn } = visitor;
  await logIn(`${password}!`);
  await arrive(page, t("common.accountTitle"));
  await open(t("account.delete"));
  await field(t("account.deleteConfirm")).fill(email);
  await press(t("account.deleteForGood"));
  await arrive(page, t("deleted.title"));
  await see("deleted");
  await page.goto("/login?notice=idp_failed");
  await see("login-idp-failed");
  await page.getByRole("link", { name: t("common.signInWith", { provider }) }).click();
  await arrive(page, t("common.accountTitle"));
  await see("account-only-provider");
  await page.goto("/no-access?return_to=/dashboard");
  await arrive(page, t("noAccess.title"));
  await see("no-access");
}

export const visitEveryPage: Visit = async (visited) => {
  const visitor = visitorOf(visited);
  await visitRegistration(visitor);
  await visitAccount(visitor);
  await visitReset(visitor);
  await visitDeletion(visitor);
};

const form = { "Content-Type": "application/x-www-form-urlencoded" };

/** Requests that no form of the site sends, by the status of the page that answers them. */
const refused = [
  [400, "/%", { method: "GET" }],
  [404, "/nowhere", { method: "GET" }],
  [405, "/login", { method: "PUT" }],
  [413, "/login", { method: "POST", headers: form, postData: `email=${"a".repeat(17_000)}` }],
  [415, "/login", { method: "POST", headers: { "Content-Type": "text/plain" } }],
] as const;

export const visitErrors: Visit = async ({ site, page, language, see }) => {
  const t = pageTexts(language);
  for (const [status, path, sent] of refused) {
    await page.route(`**${path}`, (route) =>
      route.continue({ ...sent, headers: { ...route.request().headers(), ...("headers" in sent && sent.headers) } }),
    );
    await page.goto(path);
    await page.unrouteAll();
    await arrive(page, t(`errors.title${status}`));
    await see(`error-${status}`);
  }
  await page.goto("about:blank");
  await page.setContent(`<form method="post" action="${site.url()}/login"><button>Send</button></form>`);
  await page.getByRole("button", { name: "Send" }).click();
  await arrive(page, t("errors.title403"));
  await see("error-403");
};

export const visitThrottledLogin: Visit = async (visited) => {
  const { site, page, see, answers, email, logIn } = visitorOf(visited);
  const form = { email, password: "wrong" };
  for (let attempt = 0; attempt < 10; attempt++) {
    await page.request.post("/login", { headers: { Origin: site.url() }, form });
  }
  await page.goto("/login");
  await logIn(form.password);
  await page.getByText(answers("login.tooMany", { count: 15 })).waitFor();
  await see("login-throttled");
};

export const visitClosedRegistration: Visit = async ({ page, language, see }) => {
  const t = pageTexts(language);
  await page.goto("/register");
  await page.getByText(t("register.closed")).waitFor();
  await see("register-closed");
  await page.goto(`/register/complete?${new URLSearchParams(nobody)}`);
  await page.getByText(t("link.invitedHelp")).waitFor();
  await see("complete-closed-dead");
  await page.goto("/login");
  await arrive(page, t("common.logIn"));
  await see("login-registration-closed");
};

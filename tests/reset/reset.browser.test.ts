import type { BrowserContextOptions, Locator, Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { askForReset, choosePassword, logIn, register } from "../support/browser/registration";
import { arrive, startSite } from "../support/browser/site";
import { survey, surveyed } from "../support/browser/survey";

// What people do with a reset link in a hurry, and what each ends with.

const site = startSite();

const newPassword = "slow rivers under the bridge";

async function newAccount(email: string): Promise<void> {
  const page = await site.open("/register");
  await register(site, page, email);
  await page.context().close();
}

const posts = (page: Page) => {
  const sent: string[] = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(new URL(request.url()).pathname));
  return sent;
};

const usedLink = (page: Page) => page.getByText("If you have just changed your password, the link is used");

const save = (page: Page) => page.getByRole("button", { name: "Save the password" });

/** @returns the page of an account's reset link, with the new password typed */
async function typedReset(email: string, options: BrowserContextOptions = {}): Promise<Page> {
  await newAccount(email);
  const page = await site.open("/login", { ...surveyed, ...options });
  await page.goto(await askForReset(site, page, email));
  await choosePassword(page, newPassword);
  return page;
}

/** Presses the button, and again while its request is on the way. */
async function pressTwice(button: Locator, url: string): Promise<void> {
  const page = button.page();
  const pressAgain = async (route: Route) => {
    await page.keyboard.press("Enter");
    await route.continue();
  };
  await page.route(url, pressAgain, { times: 1 });
  await button.press("Enter");
}

test("the button pressed again before the answer sends the new password once", async () => {
  const email = "once@example.com";
  const page = await typedReset(email);
  const sent = posts(page);
  await pressTwice(save(page), "**/reset-password.data?*");
  await page.waitForURL("**/login?notice=password_reset");
  const fromForm = sent.filter((path) => path !== "/auth/passkey"); // which the login page asks
  expect(fromForm).toEqual(["/reset-password.data"]);
  await logIn(page, email, newPassword);
  await arrive(page, "Your account");
});

test("without scripts, the button pressed again before the answer leads to the login", async () => {
  const email = "again@example.com";
  const page = await typedReset(email, { javaScriptEnabled: false });
  const finishThenPress = async (route: Route) => {
    await route.fetch({ maxRedirects: 0 });
    await page.keyboard.press("Enter");
  };
  await page.route("**/reset-password?*", finishThenPress, { times: 1 });
  await save(page).focus();
  await page.keyboard.press("Enter");
  await usedLink(page).waitFor();
  await page.getByRole("link", { name: "log in" }).click();
  await logIn(page, email, newPassword);
  await arrive(page, "Your account");
});

test("the button pressed again before the answer sends one request for a link", async () => {
  const page = await site.open("/forgot-password");
  await page.getByLabel("Email").fill("nobody@example.com");
  const sent = posts(page);
  await pressTwice(page.getByRole("button", { name: "Send the link" }), "**/forgot-password.data");
  await arrive(page, "Check your mail");
  expect(sent).toEqual(["/forgot-password.data"]);
});

/** Opens a link in two tabs and uses it in the first. @returns the second */
async function tabOfUsedLink(email: string) {
  await newAccount(email);
  const first = await site.open("/login", surveyed);
  const link = await askForReset(site, first, email);
  const second = await first.context().newPage();
  await Promise.all([first.goto(link), second.goto(link)]);
  await choosePassword(first, newPassword);
  await save(first).click();
  await first.waitForURL("**/login?notice=password_reset");
  return { second, link };
}

test("a form that is still open when the link was used says so", async () => {
  const { second } = await tabOfUsedLink("open@example.com");
  await choosePassword(second, newPassword);
  await save(second).click();
  await usedLink(second).waitFor();
  await survey(second, "reset-used-link");
});

test("a used link leads to a new one before anything is typed", async () => {
  const { second, link } = await tabOfUsedLink("tabs@example.com");
  await second.goto(link);
  await second.getByText("This link has expired or was used already.").waitFor();
  await survey(second, "reset-dead-link");
  await second.getByRole("button", { name: "Send a new link" }).click();
  await arrive(second, "Check your mail");
  await second.getByText("tabs@example.com").waitFor();
});

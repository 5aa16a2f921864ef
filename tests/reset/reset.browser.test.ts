import type { Page } from "playwright-core";
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

test.each([true, false])("a double click on the new password changes it (scripts: %s)", async (javaScriptEnabled) => {
  const email = `double-${javaScriptEnabled}@example.com`;
  await newAccount(email);
  const page = await site.open("/login", { ...surveyed, javaScriptEnabled });
  await page.goto(await askForReset(site, page, email));
  await choosePassword(page, newPassword);
  const sent = posts(page);
  await page.getByRole("button", { name: "Change the password" }).dblclick();
  await page.waitForURL(/\/login\?notice=password_reset$|\/reset-password$/);
  if (javaScriptEnabled) expect(sent).toEqual(["/reset-password.data"]);
  if (page.url().endsWith("/reset-password")) await page.getByRole("link", { name: "log in" }).click();
  await logIn(page, email, newPassword);
  await arrive(page, "Your account");
});

test("a double click on the request for a link sends one request", async () => {
  const page = await site.open("/forgot-password");
  await page.getByLabel("Email").fill("nobody@example.com");
  const sent = posts(page);
  await page.getByRole("button", { name: "Send the link" }).dblclick();
  await arrive(page, "Check your mail");
  expect(sent).toEqual(["/forgot-password.data"]);
});

test("a link that was used in another tab says so before anything is typed, and leads to a new one", async () => {
  await newAccount("tabs@example.com");
  const first = await site.open("/login", surveyed);
  const link = await askForReset(site, first, "tabs@example.com");
  const second = await first.context().newPage();
  await Promise.all([first.goto(link), second.goto(link)]);
  await choosePassword(first, newPassword);
  await first.getByRole("button", { name: "Change the password" }).click();
  await first.waitForURL("**/login?notice=password_reset");

  await choosePassword(second, newPassword);
  await second.getByRole("button", { name: "Change the password" }).click();
  await second.getByText("If you have just changed your password, the link is used").waitFor();
  await survey(second, "reset-used-link");

  await second.goto(link);
  await second.getByText("This link has expired or was used already.").waitFor();
  await survey(second, "reset-dead-link");
  await second.getByRole("link", { name: "ask for a new one" }).click();
  await arrive(second, "Forgot your password?");
  expect(await second.getByLabel("Email").inputValue()).toBe("tabs@example.com");
});

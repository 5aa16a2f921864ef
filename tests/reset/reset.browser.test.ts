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

test("a link that lost its end says so, and a damaged one works", async () => {
  await newAccount("mangled+tag@example.com");
  const page = await site.open("/login", surveyed);
  const link = await askForReset(site, page, "mangled+tag@example.com");
  await page.goto(link.replace(/&token=.*/, ""));
  await page.getByText("This link is not whole: copy all of it from the mail.").waitFor();
  await survey(page, "reset-incomplete-link");

  await page.goto(`${link.replace("&token=", "&amp;token=3D").replace("%2B", "+")}.`);
  await choosePassword(page, newPassword);
  await page.getByRole("button", { name: "Change the password" }).click();
  await page.waitForURL("**/login?notice=password_reset");
});

test("the sent page names the limit of mails, also for the sixth request", async () => {
  const page = await site.open("/forgot-password");
  await page.getByLabel("Email").fill("often@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("Nothing there after a few minutes?").click();
  for (let request = 2; request <= 6; request++) {
    await arrive(page, "Check your mail");
    const answered = page.waitForResponse((response) => response.request().method() === "POST");
    await page.getByRole("button", { name: "Send it again" }).click();
    expect((await answered).status()).toBe(200);
  }
  await page.getByText("At most 5 mails are sent to an address in a quarter of an hour.").waitFor();
  await page.getByText(/spam folder/).waitFor();
});

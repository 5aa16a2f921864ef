import type { Page } from "playwright-core";
import { arrive, linkIn, type startSite } from "./site";

export const password = "quiet lamps over the harbour";

export async function choosePassword(page: Page, value: string, again = value): Promise<void> {
  await page.getByLabel("New password", { exact: true }).fill(value);
  await page.getByLabel("New password, again", { exact: true }).fill(again);
}

/** Registers by mailed link, up to the account page. */
export async function register(site: ReturnType<typeof startSite>, page: Page, email: string): Promise<void> {
  await page.goto("/register");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await arrive(page, "Check your mail");
  await page.goto(linkIn(await site.mail(email, "Finish creating your account")));
  await choosePassword(page, password);
  await page.getByRole("button", { name: "Create the account" }).click();
  await arrive(page, "Your account");
}

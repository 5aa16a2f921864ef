import type { Page } from "playwright-core";
import { arrive, linkIn, type Site } from "./site";

export const password = "quiet lamps over the harbour";

export async function choosePassword(page: Page, value: string, again = value): Promise<void> {
  await page.getByLabel(/^(New p|P)assword$/).fill(value);
  await page.getByLabel("Password, again", { exact: true }).fill(again);
}

export async function logIn(page: Page, email: string, value = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password", { exact: true }).fill(value);
  await page.getByRole("button", { name: "Log in" }).click();
}

export async function logOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Log out" }).click();
  await arrive(page, "Log in");
}

/** Opens `/forgot-password` and asks for a link. @returns the mailed link */
export async function askForReset({ mail }: Mailbox, page: Page, email: string): Promise<string> {
  await page.goto("/forgot-password");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Send the link" }).click();
  await arrive(page, "Check your mail");
  return linkIn(await mail(email, "Reset your password"));
}

type Mailbox = Pick<Site, "mail">;

export const newAddress = () => `${crypto.randomUUID()}@example.com`;

export async function askForAccount(page: Page, email: string): Promise<void> {
  await arrive(page, "Create an account");
  await page.getByLabel("Email").fill(email);
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await arrive(page, "Check your mail");
}

export async function createAccount({ mail }: Mailbox, page: Page, email: string): Promise<void> {
  await askForAccount(page, email);
  await page.goto(linkIn(await mail(email, "Finish creating your account")));
  await choosePassword(page, password);
  await page.getByRole("button", { name: "Create the account" }).click();
}

export async function register(site: Mailbox, page: Page, email: string): Promise<void> {
  await page.goto("/register");
  await createAccount(site, page, email);
  await arrive(page, "Your account");
}

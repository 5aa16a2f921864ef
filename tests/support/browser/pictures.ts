// Makes the pictures of README.md and docs/branding.md, and of states that no document shows, from today's pages: npm run
// pictures. With --check it fails when a page looks different from its picture. Debian's fonts-noto-core and fonts-noto-cjk must be installed.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { latchkey } from "../command";
import { administer } from "../postgres";
import { createEmptyDatabase, startServer } from "../server";
import { addAuthenticator } from "./authenticator";
import { startChromium } from "./chromium";
import { choosePassword, createAccount, logIn, password } from "./registration";
import { linkIn } from "./site";

const small = { width: 640, height: 800 };
const phone = { width: 375, height: 740 };

const pictures = new Map<string, Buffer>();

interface Kind {
  /** Before each file's name. */
  prefix: string;
  settings: Record<string, string>;
  login: typeof small;
}

async function photograph(page: Page, name: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  pictures.set(`docs/pages/${name}.png`, await page.screenshot({ animations: "disabled" }));
}

/** A channel (of 256 steps) may differ by the smoothing of a letter's edge. */
const maxChannelDifference = 48;
/** Of half a million. A word that has moved changes about a thousand. */
const maxDifferentPixels = 250;

/** How many pixels look different in the two pictures. */
async function countDifferences(browser: Browser, before: Buffer, after: Buffer): Promise<number> {
  const page = await browser.newPage();
  const urls = [before, after].map((png) => `data:image/png;base64,${png.toString("base64")}`);
  const count = await page.evaluate(
    async ([urls, maxDifference]) => {
      const [one, two] = await Promise.all(
        urls.map(async (url) => {
          const image = await createImageBitmap(await (await fetch(url)).blob());
          const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
          canvas?.drawImage(image, 0, 0);
          return canvas?.getImageData(0, 0, image.width, image.height).data ?? [];
        }),
      );
      if (!one || !two || one.length !== two.length) return Number.POSITIVE_INFINITY;
      const different = new Set<number>();
      for (const [index, value] of one.entries()) {
        if (Math.abs(value - (two[index] ?? 0)) > maxDifference) different.add(Math.floor(index / 4));
      }
      return different.size;
    },
    [urls, maxChannelDifference] as const,
  );
  await page.close();
  return count;
}

async function comparePictures(browser: Browser): Promise<void> {
  for (const [path, picture] of pictures) {
    const count = await countDifferences(browser, await readFile(path), picture);
    if (count <= maxDifferentPixels) continue;
    console.error(`${path}: the page looks different now (${count} pixels). Run npm run pictures.`);
    process.exitCode = 1;
  }
}

/** From now on the server in this folder of temporary files answers 503 to whatever writes. */
async function refuseWrites(temporary: string): Promise<void> {
  const socket = (await readdir(temporary)).find((name) => name.startsWith("latchkey-")) ?? "";
  const url = `postgresql:///postgres?user=postgres&host=${join(temporary, socket)}`;
  await administer(url, "set default_transaction_read_only = on");
}

/** A closed registration, and the form of a login while the database takes nothing. */
async function takeRefusals(browser: Browser): Promise<void> {
  const database = await createEmptyDatabase("embedded");
  const server = await startServer({ DATABASE_URL: database.url, REGISTRATION: "closed", TMPDIR: folder });
  const page = await browser.newPage({ baseURL: server.url, viewport: small });
  await page.goto("/register", { waitUntil: "networkidle" });
  await photograph(page, "registration-closed");
  const dead = new URLSearchParams({ email: "ada@example.com", token: "0".repeat(64) });
  await page.goto(`/register/complete?${dead}`, { waitUntil: "networkidle" });
  await photograph(page, "registration-closed-dead-link");

  await refuseWrites(folder);
  await page.goto("/login", { waitUntil: "networkidle" });
  await logIn(page, "ada@example.com");
  const requestId = page.getByText(/Request ID: /);
  await requestId.waitFor();
  await requestId.evaluate((shown) => shown.replaceChildren("Request ID: 00000000-0000-4000-8000-000000000000"));
  await photograph(page, "unavailable");
  await page.close();
  await server.stop();
  await database.drop();
}

async function takePictures(browser: Browser, { prefix, settings, login }: Kind): Promise<void> {
  const database = await createEmptyDatabase("embedded");
  const server = await startServer({
    DATABASE_URL: database.url,
    IDP_CLIENT_ID: "a",
    IDP_CLIENT_SECRET: "b",
    ...settings,
  });
  const page = await browser.newPage({ baseURL: server.url, viewport: login });
  const mail = async (to: string, subject: string) => (await server.mail(to, subject)).text;

  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.goto("/login", { waitUntil: "networkidle" });
    await photograph(page, `${prefix}login-${colorScheme}`);
  }

  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize(small);
  await page.goto("/register", { waitUntil: "networkidle" });
  await createAccount({ mail }, page, "ada@example.com");
  await page.waitForURL("**/dashboard");
  await page.goto("/dashboard", { waitUntil: "networkidle" });
  await photograph(page, `${prefix}dashboard`);

  await page.request.post("/forgot-password", { headers: { Origin: server.url }, form: { email: "ada@example.com" } });
  await page.goto(linkIn(await mail("ada@example.com", "Reset your password")), { waitUntil: "networkidle" });
  await choosePassword(page, `${password}, and a boat`);
  await page.getByText("Very strong.").waitFor();
  await photograph(page, `${prefix}reset`);

  await page.close();
  await server.stop();
  await database.drop();
}

const click = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();

/** Opens the form of an action of the account page. */
async function photographForm(page: Page, intent: string, name: string): Promise<void> {
  const form = page.locator("details", { has: page.locator(`[value="${intent}"]`) });
  await form.locator("summary").click();
  await form.scrollIntoViewIfNeeded();
  await photograph(page, name);
}

/** The moments on the page are of today. */
async function photographTokens(page: Page, name: string): Promise<void> {
  for (const time of await page.locator("time").all()) await time.evaluate((shown) => shown.replaceChildren("1 May"));
  await photograph(page, name);
}

/** An invitation, and what its account can do. */
async function takeStates(browser: Browser): Promise<void> {
  const database = await createEmptyDatabase("embedded");
  const settings = { DATABASE_URL: database.url, ACCESS_TOKENS: "on", RETURN_ORIGINS: "https://app.example.com" };
  const server = await startServer({ ...settings, IDP_CLIENT_ID: "a", IDP_CLIENT_SECRET: "b" });
  const page = await browser.newPage({ baseURL: server.url, viewport: small });

  const invite = ["user", "invite", "ada@example.com", "--name", "Ada Lovelace"];
  const { stdout } = await latchkey(invite, { ...settings, PORT: String(server.port) });
  await page.goto(linkIn(stdout), { waitUntil: "networkidle" });
  await photograph(page, "invitation");
  await choosePassword(page, password);
  await click(page, "Create the account");
  await page.waitForURL("**/dashboard");

  const { setPresent } = await addAuthenticator(page);
  await setPresent(true);
  await click(page, "Create the passkey");
  await page.getByText("The passkey was added.").waitFor();
  await page.goto("/dashboard", { waitUntil: "networkidle" });
  await photographForm(page, "change-name", "name");
  await page.goto("/dashboard", { waitUntil: "networkidle" });
  await photographForm(page, "remove-password", "remove-password");

  await page.goto("/account/tokens", { waitUntil: "networkidle" });
  for (const program of ["Build", "Calendar"]) {
    await page.getByLabel("Which program is it for?").fill(program);
    await click(page, "Make a token");
    await page.getByText(`This is the token for “${program}”.`).waitFor();
  }
  await page.locator("p.value").evaluate((token) => token.replaceChildren(`latchkey_${"0".repeat(43)}`));
  await photographTokens(page, "token");
  await page.goto("/account/tokens", { waitUntil: "networkidle" });
  await photographTokens(page, "tokens");

  await page.close();
  await server.stop();
  await database.drop();
}

/** The HTML of the reset mail, as `/dev/mails` shows it. */
async function photographMail(browser: Browser, settings: Record<string, string>, names: Record<string, typeof phone>) {
  const { configure } = await import("../configure");
  const { resetMail } = await import("#server/mail/messages");
  configure({ APP_URL: "https://login.example.com", ...settings });
  const { html } = resetMail("en", "ada@example.com", "0".repeat(64), { provider: null, passkeys: 0 });
  const page = await browser.newPage();
  for (const [name, viewport] of Object.entries(names)) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme: name.endsWith("dark") ? "dark" : "light" });
    await page.setContent(html);
    await photograph(page, name);
  }
  await page.close();
}

const folder = await mkdtemp(join(tmpdir(), "latchkey-pictures-"));
const logo = join(folder, "logo.svg");
await writeFile(
  logo,
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="16" fill="#f2a900"/><path d="M9 20a7 7 0 0 1 14 0z" fill="#3b2600"/></svg>`,
);
const brand = {
  BRAND_NAME: "Morning Post",
  BRAND_LOGO: logo,
  BRAND_COLOR: "#f2a900",
  TERMS_URL: "https://morning.example/terms",
  PRIVACY_URL: "https://morning.example/privacy",
  SUPPORT_EMAIL: "help@morning.example",
};

const browser = await startChromium();
try {
  await takeRefusals(browser);
  await takePictures(browser, { prefix: "", settings: {}, login: small });
  await photographMail(browser, {}, { mail: small });
  await takeStates(browser);
  await takePictures(browser, { prefix: "brand-", settings: brand, login: phone });
  await photographMail(browser, brand, {
    "brand-mail-phone": phone,
    "brand-mail-dark": phone,
    "brand-mail-desktop": { width: 800, height: 740 },
  });
  if (process.argv.includes("--check")) await comparePictures(browser);
  else for (const [path, picture] of pictures) await writeFile(path, picture);
} finally {
  await browser.close();
  await rm(folder, { recursive: true });
}
process.exit(); // the configuration of the mails has opened nothing that would end by itself

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { html } from "#server/mail/layout";
import { resetMail } from "#server/mail/messages";
import { brandColors } from "#server/settings/brand-colors";
import { choosePassword, password, register } from "../support/browser/registration";
import { arrive, linkIn, startSite } from "../support/browser/site";
import { photograph, survey, surveyed, wcag } from "../support/browser/survey";
import { configure } from "../support/configure";

// A light colour, which is hard to read on a light ground.
const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><script>document.title = "run"</script><circle cx="16" cy="16" r="16" fill="#f2a900"/><path d="M9 20a7 7 0 0 1 14 0z" fill="#3b2600"/></svg>`;
const folder = await mkdtemp(join(tmpdir(), "latchkey-brand-"));
await writeFile(join(folder, "logo.svg"), logo);
afterAll(() => rm(folder, { recursive: true }));

const brand = {
  BRAND_NAME: "Morning Post",
  BRAND_LOGO: join(folder, "logo.svg"),
  BRAND_COLOR: "#f2a900",
  TERMS_URL: "https://morning.example/terms",
  PRIVACY_URL: "https://morning.example/privacy",
  SUPPORT_EMAIL: "help@morning.example",
};
const site = startSite(brand);

test("every page of a second brand is right in both themes", async () => {
  const page = await site.open("/login", surveyed);
  expect(await page.title()).toBe("Log in · Morning Post");
  expect(await page.locator("body").evaluate((body) => body.textContent?.includes("Latchkey"))).toBe(false);
  await survey(page, "brand-login");
  for (const [path, name] of [
    ["/forgot-password", "forgot"],
    ["/register", "register"],
    ["/nowhere", "error-404"],
    ["/login?notice=idp_failed", "idp-failed"],
  ] as const) {
    await page.goto(path, { waitUntil: "networkidle" });
    await survey(page, `brand-${name}`);
  }
  const email = "ada@example.com";
  await register(site, page, email);
  await page.waitForLoadState("networkidle");
  await survey(page, "brand-dashboard");
  await page.request.post("/forgot-password", { headers: { Origin: site.url() }, form: { email } });
  await page.goto(linkIn(await site.mail(email, "Reset your password")), { waitUntil: "networkidle" });
  await choosePassword(page, password, "something else");
  await page.getByText("Very strong.").waitFor();
  await survey(page, "brand-reset");
});

test("a page loads the brand's colours under its policy", async () => {
  const page = await site.open("/login");
  const button = page.getByRole("button", { name: "Log in" });
  expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe("rgb(242, 169, 0)");
});

test("a page keeps the brand after a navigation in the browser", async () => {
  const page = await site.open("/login");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await arrive(page, "Forgot your password?");
  expect(await page.title()).toBe("Forgot your password? · Morning Post");
  const image = page.locator(".logo img");
  expect(await image.evaluate((element) => (element as HTMLImageElement).naturalWidth)).toBeGreaterThan(0);
});

describe("a mail", () => {
  const mailHtml = () => {
    configure({ ...brand, APP_URL: "https://login.morning.example" });
    return resetMail("en", "ada@example.com", "0".repeat(64), { provider: null, passkeys: 0 }).html;
  };

  test.each([
    ["phone", 375],
    ["desktop", 800],
  ] as const)("has no accessibility violation on a %s in both themes", async (device, width) => {
    const page = await site.visit(surveyed);
    await page.setContent(mailHtml());
    await survey(page, `brand-mail-${device}`, { widths: [width], standards: wcag });
  });

  test("loads nothing", async () => {
    const page = await site.visit();
    await page.setContent(mailHtml());
    expect(await page.locator("img, script, link").count()).toBe(0);
  });

  test("reads from right to left", async () => {
    const page = await site.visit(surveyed);
    const colors = brandColors(brand.BRAND_COLOR);
    await page.setContent(html("A", ["<p>A</p>"], { name: "B", colors, lang: "ar", dir: "rtl", footer: [] }));
    const aligned = await page.locator("p").evaluate((element) => getComputedStyle(element).textAlign);
    expect(aligned).toBe("right");
    await photograph(page, "brand-mail-rtl");
  });
});

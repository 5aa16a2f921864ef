import { expect, test } from "vitest";
import { arrive, startSite } from "../support/browser/site";
import { survey, surveyed } from "../support/browser/survey";

const site = startSite({ IDP_ISSUER: "https://accounts.google.com", IDP_NAME: "Google" });

const iphone =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/22B83 Instagram 354.0.0.29.90 (iPhone12,8; iOS 18_1; en_US; en; scale=2.00; 750x1334)";
const android =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/130.0.6723.58 Mobile Safari/537.36 Instagram 355.1.0.44.103 Android (34/14; 420dpi)";

test.each([true, false])(
  "Instagram on an iPhone shows the address to copy (scripts: %s)",
  async (javaScriptEnabled) => {
    const page = await site.visit({ ...surveyed, javaScriptEnabled, userAgent: iphone });
    await page.goto("/login?return_to=%2Fnotes");
    await arrive(page, "Log in");
    await page.getByText("You are in the browser of Instagram.").waitFor();
    await page.getByText(`${site.url()}/login?return_to=%2Fnotes`, { exact: true }).waitFor();
    if (javaScriptEnabled) await survey(page, "login-in-app-iphone");
  },
);

test("Instagram on an iPhone copies the address by a button", async () => {
  const page = await site.visit({ userAgent: iphone, permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto("/login?return_to=%2Fnotes");
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${site.url()}/login?return_to=%2Fnotes`);
});

test.each(["/login", "/register"])("%s says so above the provider's button", async (path) => {
  const page = await site.visit({ userAgent: iphone });
  await page.goto(path);
  const notice = await page.getByText("You are in the browser of Instagram.").boundingBox();
  const button = await page.getByRole("link", { name: /Google$/ }).boundingBox();
  expect(button!.y).toBeGreaterThan(notice!.y + notice!.height);
});

test("Instagram on an iPhone shows where it hides the way to the browser", async () => {
  const page = await site.visit({ userAgent: iphone });
  await page.goto("/login");
  await page.getByText("Choose “Open in browser” in the app’s menu").waitFor();
});

test("Instagram on Android shows a link that opens the browser", async () => {
  const page = await site.visit({ ...surveyed, userAgent: android });
  await page.goto("/register");
  const link = page.getByRole("link", { name: "Open in your browser" });
  expect(await link.getAttribute("href")).toBe(`intent://${new URL(site.url()).host}/register#Intent;scheme=http;end`);
  await survey(page, "register-in-app-android");
});

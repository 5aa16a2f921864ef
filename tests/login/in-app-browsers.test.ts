import { describe, expect, test } from "vitest";
import * as register from "~/routes/register";
import { openLogin } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey(google);

const iphone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)";
const pixel =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/AP2A.240905.003; wv) AppleWebKit/537.36 (KHTML, like Gecko)";
const webView = `${pixel} Version/4.0 Chrome/130.0.6723.58 Mobile Safari/537.36`;

/** From the tests of inapp-spy 5.0.10 (https://github.com/shalanah/inapp-spy); LinkedIn on Android as it is since 2024. */
const apps = {
  iphone: [
    ["Instagram", `${iphone} Mobile/22B83 Instagram 354.0.0.29.90 (iPhone12,8; iOS 18_1; en_US; en; scale=2.00)`],
    ["Facebook", `${iphone} Mobile/22B83 [FBAN/FBIOS;FBAV/488.0.0.68.101;FBDV/iPhone12,8;FBLC/en_US;IABMV/1]`],
    ["LinkedIn", `${iphone} Mobile/15E148 {useragents: [LinkedInApp]/9.30.1753`],
    ["TikTok", `${iphone} Mobile/15E148 BytedanceWebview/d8a21c6 musical_ly_33.2.1 JsSdk/2.0 NetType/WIFI`],
    ["Line", `${iphone} Mobile/14D27 Safari Line/7.3.2`],
    [null, `${iphone} Mobile/15E148`],
  ],
  android: [
    ["Instagram", `${webView} Instagram 355.1.0.44.103 Android (34/14; 420dpi; 1080x2205; Google/google; Pixel 8)`],
    ["Facebook", `${webView} [FB_IAB/FB4A;FBAV/488.0.0.62.79;IABMV/1;]`],
    ["LinkedIn", `${webView} [LinkedInApp]/2.309.56`],
    ["TikTok", `${webView} musical_ly_2023303040 JsSdk/1.0 NetType/WIFI BytedanceWebview/d8a21c6`],
    ["Line", `${webView} Line/7.4.0/IAB`],
    [null, webView],
  ],
} as const;

/** https://developer.mozilla.org/docs/Web/HTTP/Reference/Headers/User-Agent, and the tests of inapp-spy 5.0.10. */
const browsers = {
  "Safari on iPhone": `${iphone} Version/18.1 Mobile/15E148 Safari/604.1`,
  "Chrome on iPhone": `${iphone} CriOS/130.0.6723.90 Mobile/15E148 Safari/604.1`,
  "Firefox on iPhone": `${iphone} FxiOS/132.0 Mobile/15E148 Safari/605.1.15`,
  "Chrome on Android":
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
  "Firefox on Android": "Mozilla/5.0 (Android 14; Mobile; rv:141.0) Gecko/141.0 Firefox/141.0",
  "Samsung Internet":
    "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
  "Chrome on Windows":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
  "Edge on Windows":
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
  "Safari on macOS":
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0.1 Safari/605.1.15",
  "Firefox on Linux": "Mozilla/5.0 (X11; Linux x86_64; rv:141.0) Gecko/20100101 Firefox/141.0",
  "the Google app": `${iphone} GSA/334.0.674067880 Mobile/15E148 Safari/604.1`,
};

const [, instagram] = apps.iphone[0];

const openedBy = async (userAgent: string, search = "") =>
  (await openLogin(search, { headers: { "User-Agent": userAgent } })).data.inApp;

const address = "http://localhost:3000/login?return_to=%2Fnotes";

test.each(apps.iphone)("the browser of %s on an iPhone gets the address to copy", async (app, userAgent) => {
  expect(await openedBy(userAgent, "?return_to=%2Fnotes")).toEqual({ app, address, openUrl: null });
});

test.each(apps.android)("the browser of %s on Android gets a link to the browser", async (app, userAgent) => {
  const openUrl = "intent://localhost:3000/login?return_to=%2Fnotes#Intent;scheme=http;end";
  expect(await openedBy(userAgent, "?return_to=%2Fnotes")).toEqual({ app, address, openUrl });
});

test.each([
  ["Facebook", `${iphone} Mobile/21A329 [FBAN/FBIOS;FBAV/440.0.0.0;FBDV/iPhone14,5]`],
  ["Facebook", `${webView} [FB_IAB/FB4A;FBAV/440.0.0.0;]`],
  ["Facebook Messenger", `${iphone} Mobile/21A329 [FBAN/MessengerForiOS;FBAV/440.0.0.0;FBDV/iPhone14,5]`],
  ["Facebook Messenger", `${webView} [FB_IAB/Orca-Android;FBAV/440.0.0.0;]`],
])("%s is named for the user agent %s", async (app, userAgent) => {
  expect(await openedBy(userAgent)).toMatchObject({ app });
});

test.each(Object.entries(browsers))("%s is not taken for an app", async (_name, userAgent) => {
  expect(await openedBy(userAgent)).toBeNull();
});

test("of a long user agent, the first 512 characters count", async () => {
  expect(await openedBy(`Mozilla/5.0 ${"a".repeat(500)} Instagram 354.0.0.29.90`)).toBeNull();
});

test("a request without a user agent is not taken for an app", async () => {
  expect((await openLogin()).data.inApp).toBeNull();
});

test("the registration page has the same way out", async () => {
  const opened = await call(register.loader, get("/register", { headers: { "User-Agent": instagram } }));
  expect(opened.data.inApp).toEqual({ app: "Instagram", address: "http://localhost:3000/register", openUrl: null });
});

describe("a provider", () => {
  test("that refuses no app's browser needs no way out", async () => {
    latchkey.configure({ ...google, IDP_PROVIDER: "github" });
    expect(await openedBy(instagram)).toBeNull();
  });

  test("that is off needs no way out", async () => {
    latchkey.configure({ IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" });
    expect(await openedBy(instagram)).toBeNull();
  });

  test.each(["https://accounts.google.com", "https://accounts.google.com:443/"])(
    "by oidc with the issuer %s is Google",
    async (issuer) => {
      latchkey.configure({ ...google, IDP_PROVIDER: "oidc", IDP_ISSUER: issuer });
      expect(await openedBy(instagram)).toMatchObject({ app: "Instagram" });
    },
  );

  test("by oidc with another issuer needs no way out", async () => {
    latchkey.configure({ ...google, IDP_PROVIDER: "oidc", IDP_ISSUER: "https://idp.example" });
    expect(await openedBy(instagram)).toBeNull();
  });
});

test("SIGN_IN_REDIRECT sends nobody on from the browser of an app", async () => {
  latchkey.configure({ ...google, SIGN_IN_REDIRECT: "on" });
  expect(await openLogin()).toMatchObject({ status: 302, location: "/auth/idp" });
  expect(await openLogin("", { headers: { "User-Agent": instagram } })).toMatchObject({ status: 200 });
});

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBrowser } from "../support/browser/chromium";
import { register } from "../support/browser/registration";
import { arrive } from "../support/browser/site";
import { VirtualAuthenticator } from "../support/browser/virtual-authenticator";
import { createAuthority } from "../support/certificates";
import { type ReverseProxy, startReverseProxy } from "../support/reverse-proxy";
import { createEmptyDatabase, freePort, type RunningServer, startServer, type TestDatabase } from "../support/server";

let browser: Browser;
let database: TestDatabase;
let proxy: ReverseProxy;
let server: RunningServer;
let origin: string;

beforeAll(async () => {
  const certificate = createAuthority().sign("DNS:login.example.org");
  const port = await freePort();
  const setEvery: Parameters<typeof startReverseProxy>[1] = (headers, { proto, host, client }) =>
    Object.assign(headers, { "x-forwarded-proto": proto, "x-forwarded-host": host, "x-forwarded-for": client });
  proxy = await startReverseProxy(() => port, setEvery, certificate);
  origin = `https://login.example.org:${proxy.port}`;
  database = await createEmptyDatabase();
  server = await startServer({
    PORT: String(port),
    DATABASE_URL: database.url,
    APP_URL: origin,
    TRUST_PROXY: "1",
    SESSION_DOMAIN: "example.org",
  });
  browser = await startBrowser({ hosts: { "*.example.org": "127.0.0.1" }, certificate: certificate.cert });
});

afterAll(async () => {
  await browser.close();
  await proxy.stop();
  await server.stop();
  await database.drop();
});

test("with SESSION_DOMAIN a passkey is the login host's, and its session is the domain's", async () => {
  const context = await browser.newContext({ baseURL: origin });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  const authenticator = await VirtualAuthenticator.of(page);
  await authenticator.setPresent(true);
  const mailbox = { mail: async (to: string, subject: string) => (await server.mail(to, subject)).text };
  await register(mailbox, page, "ada@example.com");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("The passkey was added.").waitFor();
  expect(await authenticator.credentials()).toMatchObject([{ rpId: "login.example.org" }]);
  await page.getByRole("button", { name: "Log out" }).click();
  await arrive(page, "Log in");
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await arrive(page, "Your account");
  const cookies = await context.cookies();
  expect(cookies.filter(({ domain }) => domain.startsWith("."))).toMatchObject([
    { name: "__Secure-session", domain: ".example.org", secure: true, httpOnly: true },
  ]);
});

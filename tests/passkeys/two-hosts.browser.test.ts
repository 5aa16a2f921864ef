import { request } from "node:http";
import https from "node:https";
import { join } from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { addAuthenticator, addPasskey } from "../support/browser/authenticator";
import { startBindingBrowser } from "../support/browser/chromium";
import { logOut, newAddress, register } from "../support/browser/registration";
import { arrive } from "../support/browser/site";
import { createAuthority } from "../support/certificates";
import { listen } from "../support/listen";
import { freePort, startServer } from "../support/server";
import { createDatabase } from "../support/template-copy";

const hosts = ["login.example.test", "id.example.test"] as const;
const certificate = createAuthority().sign("DNS:*.example.test");

/** A proxy with TLS for both hosts. @returns its port */
async function startProxy(servicePort: number): Promise<number> {
  const server = https.createServer(certificate, (incoming, response) => {
    const { method, url, headers, socket } = incoming;
    const forwarded = { "x-forwarded-proto": "https", "x-forwarded-for": socket.remoteAddress };
    const onward = request({ port: servicePort, method, path: url, headers: { ...headers, ...forwarded } }, (answer) =>
      answer.pipe(response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)),
    );
    incoming.pipe(onward.on("error", () => response.destroy())); // while the service moves
  });
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  return port;
}

test("with PASSKEY_RP_ID a passkey that was made at one host signs in at another of the domain", async () => {
  const [profile, database, servicePort] = await Promise.all([temporaryFolder(), createDatabase(), freePort()]);
  onTestFinished(profile.remove);
  onTestFinished(database.drop);
  const port = await startProxy(servicePort);
  const [first, second] = hosts.map((host) => `https://${host}:${port}`) as [string, string];
  const startAt = (APP_URL: string) =>
    startServer({
      APP_URL,
      PASSKEY_RP_ID: "example.test",
      PORT: String(servicePort),
      DATABASE_URL: database.url,
      TRUST_PROXY: "1",
    });
  const browser: BrowserContext = await startBindingBrowser(join(profile.folder, "profile"), first, certificate);
  onTestFinished(() => browser.close());
  const page: Page = await browser.newPage();
  const authenticator = await addAuthenticator(page);

  const former = await startAt(first);
  const mail = async (to: string, subject: string) => (await former.mail(to, subject)).text;
  await register({ mail }, page, newAddress());
  await addPasskey(page, authenticator);
  await logOut(page);
  await former.stop();

  const moved = await startAt(second);
  onTestFinished(async () => void (await moved.stop()));
  await page.addInitScript("PublicKeyCredential.isConditionalMediationAvailable = async () => false");
  await page.goto(`${second}/login`);
  await authenticator.setPresent(true);
  await page.getByRole("button", { name: /^Sign in with a passkey/ }).click();
  await arrive(page, "Your account");
  expect(new URL(page.url()).host).toBe(`id.example.test:${port}`);
});

import { createServer } from "node:http";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { allowedTarget } from "../../server/origins/return-to";
import { askForAccount, choosePassword, logIn, newAddress, password, register } from "../support/browser/registration";
import { arrive, linkIn, signInAtProvider, startSite } from "../support/browser/site";
import { listen } from "../support/listen";
import { bypasses, targets } from "../support/open-redirects";

let app: string;

beforeAll(async () => {
  const server = createServer(({ url = "" }, response) => {
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" });
    response.end(`<!doctype html><title>App</title><link rel="icon" href="data:,"><h1>App at ${url}</h1>`);
  });
  const { port, stop } = await listen(server);
  app = `http://localhost:${port}`;
  return stop;
});

const site = startSite(() => ({ RETURN_ORIGINS: app }));

describe.each([true, false])("with JavaScript: %s", (javaScriptEnabled) => {
  const options = { javaScriptEnabled };
  const asked = (path: string) => `/login?${new URLSearchParams({ return_to: `${app}${path}` })}`;

  test("a login after a refused one leads back to the page of the application", async () => {
    const email = newAddress();
    await register(site, await site.visit(options), email);
    const page = await site.open(asked("/notes?page=2"), options);
    await logIn(page, email, "not the right one");
    expect(await page.getByRole("alert").textContent()).toBe("Email or password is incorrect.");
    await page.getByLabel("Password", { exact: true }).fill(password);
    await page.getByRole("button", { name: "Log in" }).click();
    await arrive(page, "App at /notes?page=2");
  });

  test("the login page leads a signed-in user back at once", async () => {
    const page = await site.visit(options);
    await register(site, page, newAddress());
    await page.goto(asked("/again"));
    await arrive(page, "App at /again");
  });

  test("a page of this origin that Remix does not render is loaded after a login", async () => {
    const email = newAddress();
    await register(site, await site.visit(options), email);
    const page = await site.open("/login?return_to=/healthz", options);
    await logIn(page, email);
    await page.waitForURL(`${site.url()}/healthz`);
    expect(await page.textContent("body")).toContain("ok");
  });

  test("an external sign-in by way of the registration page leads back", async () => {
    const page = await site.open(asked("/from/provider"), options);
    await page.getByRole("link", { name: "Create one" }).click();
    await arrive(page, "Create an account");
    await page.getByRole("link", { name: /^Sign in with (?!a passkey)/ }).click();
    await signInAtProvider(page, newAddress().split("@")[0] ?? "");
    await arrive(page, "App at /from/provider");
  });

  test("a registration by mail after a refused password leads back", async () => {
    const email = newAddress();
    const page = await site.open(asked("/welcome"), options);
    await page.getByRole("link", { name: "Create one" }).click();
    await askForAccount(page, email);
    await page.goto(linkIn(await site.mail(email, "Finish creating your account")));
    await choosePassword(page, password, "another one");
    await page.getByRole("button", { name: "Create the account" }).click();
    await page.getByText("The two passwords are not the same.").waitFor();
    await choosePassword(page, password);
    await page.getByRole("button", { name: "Create the account" }).click();
    await arrive(page, "App at /welcome");
  });
});

test("Chromium reads each accepted target as the same URL of an allowed origin", async () => {
  const page = await site.open("/login");
  const allowed = { appUrl: site.url(), returnOrigins: [app, "https://*.shop.example"] };
  const texts = [...bypasses(site.url()).map(([, text]) => text), ...fc.sample(targets, 5_000)];
  const passed = texts.flatMap((text) => allowedTarget(text, allowed) ?? []);
  expect(passed.length).toBeGreaterThan(100);
  const read = await page.evaluate(
    (sent) =>
      sent.map((target) => {
        const link = document.createElement("a");
        link.href = target;
        return { target, href: link.href, origin: new URL(link.href).origin };
      }),
    passed,
  );
  for (const { target, href, origin } of read) {
    expect(href).toBe(new URL(target, site.url()).href);
    expect([site.url(), app].includes(origin) || /^https:\/\/[a-z0-9_.-]+\.shop\.example$/.test(origin), target).toBe(
      true,
    );
  }
});

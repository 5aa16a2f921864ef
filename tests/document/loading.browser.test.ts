import type { Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { logIn, register } from "../support/browser/registration";
import { arrive, startSite } from "../support/browser/site";

const site = startSite();

const maxScript = 100 * 1024; // bytes

const pages = ["/login", "/forgot-password", "/register", "/reset-password", "/register/complete", "/nowhere"];

/** In bytes, as transferred, headers included. */
async function scriptsLoaded(page: Page, path: string): Promise<number> {
  const scripts: Request[] = [];
  page.on("requestfinished", (request) => {
    if (/\.js$/.test(new URL(request.url()).pathname)) scripts.push(request);
  });
  await page.goto(path, { waitUntil: "networkidle" });
  const sizes = await Promise.all(scripts.map((script) => script.sizes()));
  return sizes.reduce((sum, size) => sum + size.responseBodySize + size.responseHeadersSize, 0);
}

test.each(pages)("the first load of %s stays under 100 KiB of JavaScript", async (path) => {
  const total = await scriptsLoaded(await site.visit(), path);
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThan(maxScript);
});

test("the first load of /dashboard stays under 100 KiB of JavaScript", async () => {
  const signedIn = await site.visit();
  await register(site, signedIn, "grace@example.com");
  const page = await site.visit();
  await page.context().addCookies(await signedIn.context().cookies());
  const total = await scriptsLoaded(page, "/dashboard");
  await arrive(page, "Your account");
  expect(total).toBeGreaterThan(0);
  expect(total).toBeLessThan(maxScript);
});

const withPasskeys = pages.flatMap((path) => [[path, "with passkeys"] as const, [path, "without passkeys"] as const]);

test.each(withPasskeys)("%s has no layout shift while it loads in a browser %s", async (path, browser) => {
  const page = await site.visit({ viewport: { width: 375, height: 740 } });
  if (browser === "without passkeys") await page.addInitScript("delete window.PublicKeyCredential");
  await page.goto(path, { waitUntil: "networkidle" });
  const shifts = await page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        let seen = 0;
        new PerformanceObserver((list) => {
          seen += list.getEntries().length;
        }).observe({ type: "layout-shift", buffered: true });
        requestAnimationFrame(() => requestAnimationFrame(() => resolve(seen)));
      }),
  );
  expect(shifts).toBe(0);
});

test("on a phone, the first languages stay in place when the others have been read", async () => {
  const page = await site.visit({ viewport: { width: 375, height: 740 } });
  const place = async () => {
    await page.goto("/login");
    return page.getByRole("button", { name: "English" }).boundingBox();
  };
  const placed = await place();
  await page.route("/login", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: (await response.text()).replace(/Deutsch.*/s, "") });
  });
  expect(await place()).toEqual(placed);
});

test("hydration leaves the entry of the history alone", async () => {
  const page = await site.visit();
  await page.addInitScript(() => {
    const replaceState = history.replaceState.bind(history);
    history.replaceState = (...entry) => {
      document.documentElement.dataset.replaced = document.readyState;
      replaceState(...entry);
    };
  });
  await page.goto("/login", { waitUntil: "networkidle" });
  await arrive(page, "Log in");
  expect(await page.evaluate(() => document.documentElement.dataset.replaced)).toBe("loading");
});

// Remix decodes the loaders' data within React's first render, which suspends; a click makes React render at once.
test("a click before the first render is over does not stop hydration", async () => {
  const page = await site.visit();
  await page.addInitScript(() => {
    const addEventListener = document.addEventListener.bind(document);
    document.addEventListener = (...listener: Parameters<typeof addEventListener>) => {
      addEventListener(...listener);
      if (listener[0] === "click") queueMicrotask(() => document.querySelector("h1")?.click());
    };
  });
  await page.goto("/login", { waitUntil: "networkidle" });
  await page.waitForFunction(() => Object.keys(document.body).some((name) => name.startsWith("__reactFiber")));
});

test("without the file of the texts a login works as without scripts", async () => {
  const email = "ada@example.com";
  await register(site, await site.visit(), email);
  const page = await site.visit();
  await page.route("**/__files/texts-*", (route) => route.abort());
  const failed = () => page.waitForEvent("pageerror", ({ message }) => message === "Failed to fetch");
  await Promise.all([page.goto("/login"), failed()]);
  await arrive(page, "Log in");
  await Promise.all([logIn(page, email), failed()]); // The answer is a document, which loads the scripts again.
  await arrive(page, "Your account");
  const problems = site.takeProblems().map((problem) => problem.replace(/ \(.*\)$/, ""));
  const expected = ["console: Failed to load resource: net::ERR_FAILED", "uncaught: Failed to fetch"];
  expect(problems).toEqual([...expected, ...expected]);
});

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { newAddress, register } from "../support/browser/registration";
import { arrive, startSite } from "../support/browser/site";
import { cutTexts, overflow, survey, surveyed } from "../support/browser/survey";

const site = startSite();

const resetPage = `/reset-password?${new URLSearchParams({ email: "ada@example.com", token: "0".repeat(64) })}`;

/** The form of a link that is dead, which is folded. */
async function openResetForm(options?: Parameters<typeof site.open>[1], path = resetPage): Promise<Page> {
  const page = await site.open(path, options);
  await page.locator("summary").click();
  return page;
}

const passwordOf = (page: Page) => page.getByLabel("Password", { exact: true });

const fields = (page: Page, names = ["name", "type", "autocomplete"]) =>
  page
    .locator("form input:not([type=hidden])")
    .evaluateAll(
      (inputs, names) => inputs.map((input) => names.map((name) => input.getAttribute(name)).join(" ")),
      names,
    );

test.each([
  ["/login", ["email email username webauthn", "password password current-password"]],
  ["/forgot-password", ["email email username"]],
  ["/register", ["email email username"]],
])("password managers are told what each field of %s is for", { tags: "6.2.7" }, async (path, expected) => {
  expect(await fields(await site.open(path))).toEqual(expected);
});

test.each([
  ["reset-password", []],
  ["register/complete", ["name  name"]],
])("password managers are told what each field of /%s is for", { tags: "6.2.7" }, async (path, more) => {
  const page = await openResetForm({}, resetPage.replace("reset-password", path));
  expect(await fields(page)).toEqual([
    "email email username",
    "email email username",
    ...more,
    "password password new-password",
    "passwordConfirmation password new-password",
  ]);
  expect(await page.getByLabel("Email").last().inputValue()).toBe("ada@example.com");
});

test("on-screen keyboards are told what each field of the login page is for", async () => {
  const page = await site.open("/login");
  const keyboards = await fields(page, ["inputmode", "enterkeyhint", "autocapitalize", "spellcheck"]);
  expect(keyboards).toEqual(["email next none false", " go none false"]);
});

const typeOf = (page: Page) => passwordOf(page).getAttribute("type");

test("a password can be shown", { tags: "6.2.6" }, async () => {
  const page = await site.open("/login");
  await passwordOf(page).fill("not the password");
  await page.getByRole("button", { name: "Show password" }).click();
  expect(await typeOf(page)).toBe("text");
  await page.getByRole("button", { name: "Hide password" }).click();
  expect(await typeOf(page)).toBe("password");
});

test("a shown password is hidden on submit", { tags: "6.2.6" }, async () => {
  const page = await site.open("/login");
  await page.getByLabel("Email").fill("ada@example.com");
  await passwordOf(page).fill("not the password");
  await page.getByRole("button", { name: "Show password" }).click();
  await page.route("**/login.data*", () => {}); // no answer
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("button[aria-busy=true]").waitFor();
  expect(await typeOf(page)).toBe("password");
});

test("without JavaScript there is no button that needs it", async () => {
  const page = await openResetForm({ javaScriptEnabled: false });
  const buttons = await page.getByRole("main").getByRole("button").allTextContents();
  expect(buttons).toEqual(["Send a new link", "Save the password"]);
});

test("the Caps Lock warning is shown only while a password field has the focus", async () => {
  const page = await site.open("/login", surveyed);
  const warning = page.getByText("Caps Lock is on.");
  const press = (capsLock: boolean) =>
    passwordOf(page).evaluate((input, on) => {
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "A", bubbles: true, modifierCapsLock: on }));
    }, capsLock);
  await passwordOf(page).focus();
  expect(await warning.count()).toBe(0);
  await press(true);
  await warning.waitFor();
  await survey(page, "login-caps-lock");
  await press(false);
  await warning.waitFor({ state: "detached" });
  await press(true);
  await warning.waitFor();
  await page.getByLabel("Email").focus();
  await warning.waitFor({ state: "detached" });
});

const strengthHint = (page: Page) => page.getByRole("status").first();

test("a new password's shortest length is shown before it is typed", async () => {
  const page = await openResetForm();
  expect(await strengthHint(page).textContent()).toBe("Use at least 8 characters.");
});

test.each([
  ["pass", "Too short: use at least 8 characters."],
  ["password", "Very easy to guess: add words."],
  ["ada@example.com", "Very easy to guess: add words."],
  ["quiet lamps over the harbour", "Very strong."],
])("the strength of the new password %j is shown as “%s”", async (password, words) => {
  const page = await openResetForm(surveyed);
  await page.getByLabel("Password", { exact: true }).fill(password);
  await strengthHint(page).getByText(words, { exact: true }).waitFor();
  await survey(page, `reset-${words.split(":", 1)}`);
});

test("the script of the strength is loaded once on first input", async () => {
  const page = await site.visit();
  const scripts: string[] = [];
  page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
  const loaded = () => scripts.filter((path) => /password-strength/.test(path));
  await page.goto(resetPage, { waitUntil: "networkidle" });
  await page.locator("summary").click();
  expect(loaded()).toEqual([]);
  for (const [password, words] of [
    ["pass", "Too short: use at least 8 characters."],
    ["quiet lamps over the harbour", "Very strong."],
  ] as const) {
    await page.getByLabel("Password", { exact: true }).fill(password);
    await strengthHint(page).getByText(words, { exact: true }).waitFor();
  }
  expect(loaded()).toHaveLength(1);
});

test("a password can be pasted into every field", { tags: "6.2.7" }, async () => {
  const page = await openResetForm();
  const prevented = await page.locator("input[type=password]").evaluateAll((inputs) =>
    inputs.map((input) => {
      const paste = new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: new DataTransfer() });
      return !input.dispatchEvent(paste);
    }),
  );
  expect(prevented).toEqual([false, false]);
});

test("after a navigation the heading has the focus", async () => {
  const page = await site.open("/login");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await arrive(page, "Forgot your password?");
  await page.locator("h1:focus").waitFor();
});

test("after an action its status message has the focus", async () => {
  const page = await site.open("/forgot-password");
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await arrive(page, "Check your mail");
  const focused = page.locator("[role=status]:focus");
  await focused.getByText("nobody@example.com").waitFor();
  await page.getByText("Nothing there after a few minutes?").click();
  await page.getByRole("button", { name: "Send it again" }).click();
  await focused.filter({ hasText: /^Asked again\. If there is an account/ }).waitFor();
});

test.each(["/login", "/forgot-password", "/register", resetPage, "/nowhere"])(
  "every control on %s has a touch target of at least 44 px",
  async (path) => {
    const page = await site.open(path, { viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true });
    const missed = await page.evaluate(() =>
      [...document.querySelectorAll("a, button, summary, input:not([type=hidden])")]
        .filter((target) => target.checkVisibility())
        .filter((target) => {
          const { left, top, width, height } = target.getBoundingClientRect();
          return [-21.9, 21.9].some((y) => {
            const met = document.elementFromPoint(left + width / 2, top + height / 2 + y);
            return !target.contains(met);
          });
        })
        .map((target) => target.textContent || target.getAttribute("name")),
    );
    expect(missed).toEqual([]);
  },
);

/** What the tab key reaches on the login page: the name, and whether the focus is visible. */
async function tabStops() {
  const page = await site.open("/login");
  const stops: { name: string; marked: boolean }[] = [];
  for (let stop = 0; stop < 9; stop++) {
    await page.keyboard.press("Tab");
    stops.push(
      await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const { outlineStyle, boxShadow } = getComputedStyle(element.closest(".reveal:has(input:focus)") ?? element);
        return {
          name: element.getAttribute("aria-label") ?? element.getAttribute("name") ?? element.textContent ?? "",
          marked: outlineStyle !== "none" || boxShadow !== "none",
        };
      }),
    );
  }
  return stops;
}

test("Tab reaches every control of the login page in order", async () => {
  expect((await tabStops()).map(({ name }) => name)).toEqual([
    "Latchkey",
    "email",
    "password",
    "Show password",
    "Log in",
    "Forgot your password?",
    "Sign in with single sign-on",
    "Sign in with a passkey",
    "Create one",
  ]);
});

test("the focus is visible on every control of the login page", async () => {
  expect((await tabStops()).filter(({ marked }) => !marked)).toEqual([]);
});

async function timeOfSignIn(javaScriptEnabled: boolean) {
  const page = await site.visit({ javaScriptEnabled, timezoneId: "Asia/Tokyo" });
  await register(site, page, newAddress());
  return { page, time: page.getByText("Signed in").locator("time").first() };
}

test.each([true, false])("the account page says how long ago a sign-in was (scripts: %s)", async (scripts) => {
  const { time } = await timeOfSignIn(scripts);
  expect(await time.textContent()).toMatch(/^(?:now|1 minute ago)$/);
});

test("the account page has the exact time of a sign-in in the reader's zone", async () => {
  const { page, time } = await timeOfSignIn(true);
  await page.locator("time[title$='GMT+9']").first().waitFor();
  expect(await time.getAttribute("title")).toMatch(/^\d+ \w+ \d{4} at \d\d:\d\d GMT\+9$/);
});

test("the account page has the exact time of a sign-in in UTC without scripts", async () => {
  const { time } = await timeOfSignIn(false);
  expect(await time.getAttribute("title")).toMatch(/^\d+ \w+ \d{4} at \d\d:\d\d UTC$/);
});

test.each(["light", "dark"] as const)(
  "what opens the form to delete the account has the danger colour in the %s theme",
  async (colorScheme) => {
    const page = await site.visit({ reducedMotion: "reduce", colorScheme });
    await register(site, page, newAddress());
    const [link, button] = await page.evaluate(() =>
      ["section:last-of-type summary", "section:last-of-type button"].map(
        (selector) => getComputedStyle(document.querySelector(selector) as Element).color,
      ),
    );
    expect(link).toBe(button);
  },
);

test("the login page has the same layout without JavaScript as without passkeys", async () => {
  const shapes = [];
  for (const javaScriptEnabled of [true, false]) {
    const page = await site.visit({ ...surveyed, javaScriptEnabled });
    await page.addInitScript("delete window.PublicKeyCredential");
    await page.goto("/login", { waitUntil: "networkidle" });
    const boxes = page.locator("main :is(h1, input, [type=submit], a)");
    shapes.push(await boxes.evaluateAll((all) => all.map((box) => box.getBoundingClientRect().top)));
  }
  expect(shapes[1]).toEqual(shapes[0]);
});

test.each(["/login", "/register", "/reset-password", "/nowhere"])(
  "%s at 200 % zoom does not overflow with text twice as large",
  async (path) => {
    const page = await site.open(path, { ...surveyed, viewport: { width: 640, height: 400 } });
    await page.addStyleTag({ content: ":root { font-size: 200% !important }" });
    expect(await overflow(page)).toBe(0);
    expect(await cutTexts(page)).toEqual([]);
  },
);

const boxOf = async (page: Page, selector: string) =>
  (await page.locator(selector).boundingBox()) ?? expect.fail(selector);

describe("on a phone with text twice as large", () => {
  const twiceAsLarge = async (locale: string) => {
    const page = await site.open("/login", { ...surveyed, viewport: { width: 360, height: 740 }, locale });
    await page.addStyleTag({ content: ":root { font-size: 200% !important }" });
    return page;
  };

  test("every language is on the page", async () => {
    expect(await overflow(await twiceAsLarge("en"))).toBe(0);
  });

  test("the link of a forgotten password goes below its label", async () => {
    const page = await twiceAsLarge("fr");
    const label = await boxOf(page, ".password label");
    const link = await boxOf(page, ".password > a");
    expect(link.x).toBeLessThan(label.x + label.width);
  });
});

test.each([576, 600, 640, 690, 768])("the card of the account page has a margin at a width of %d px", async (width) => {
  const page = await site.visit({ viewport: { width, height: 740 } });
  await register(site, page, newAddress());
  const card = await boxOf(page, "main");
  expect(card.x).toBeGreaterThanOrEqual(16);
  expect(card.x + card.width).toBeLessThanOrEqual(width - 16);
});

test("on a phone of 360 px the button to log out stands beside the person", async () => {
  const page = await site.visit({ viewport: { width: 360, height: 740 } });
  await register(site, page, "ada@example.com");
  const person = await boxOf(page, ".person p");
  const button = await boxOf(page, ".person button");
  expect(button.y).toBeLessThan(person.y + person.height);
});

test.each([320, 360, 390, 640, 1280])(
  "the mark of what is folded away stands beside its text at a width of %d px",
  async (width) => {
    const page = await site.open("/forgot-password", { viewport: { width, height: 740 } });
    await page.getByLabel("Email").fill("nobody@example.com");
    await page.getByRole("button", { name: "Send the link" }).click();
    const summary = page.locator("summary");
    await summary.waitFor();
    const text = await summary.evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().height;
    });
    expect((await boxOf(page, "summary")).height).toBeLessThan(text + 8);
  },
);

test("the link to another account at the provider is nearer to the provider's button than to the next way in", async () => {
  const page = await site.open("/login?notice=idp_failed");
  const link = await boxOf(page, "main a[href*='prompt=select_account']");
  const provider = await boxOf(page, "main a[href='/auth/idp'].button");
  const next = await boxOf(page, "button[type=submit]:has-text('Sign in with a passkey')");
  expect(link.y - (provider.y + provider.height)).toBeLessThan(next.y - (link.y + link.height));
});

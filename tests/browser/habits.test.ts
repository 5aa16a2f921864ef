import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { arrive, startSite } from "./site";

const site = startSite();

const resetPage = `/reset-password?${new URLSearchParams({ email: "ada@example.com", token: "0".repeat(64) })}`;

const passwordOf = (page: Page) => page.getByLabel("Password", { exact: true });
const newPasswordOf = (page: Page) => page.getByLabel("New password", { exact: true });

async function open(path: string): Promise<Page> {
  const page = await site.visit();
  await page.goto(path, { waitUntil: "networkidle" });
  return page;
}

test("a password manager finds who logs in, and where a new password goes", async () => {
  const fields = (page: Page) =>
    page.evaluate(() =>
      [...document.querySelectorAll("form input:not([type=hidden])")].map((input) =>
        ["name", "type", "autocomplete"].map((name) => input.getAttribute(name)).join(" "),
      ),
    );
  const page = await open("/login");
  expect(await fields(page)).toEqual(["email email username", "password password current-password"]);
  for (const path of ["/forgot-password", "/register"]) {
    await page.goto(path);
    expect(await fields(page)).toEqual(["email email username"]);
  }
  for (const path of [resetPage, resetPage.replace("reset-password", "register/complete")]) {
    await page.goto(path);
    expect(await fields(page)).toEqual([
      "email email username",
      "password password new-password",
      "passwordConfirmation password new-password",
    ]);
    expect(await page.getByLabel("Email").inputValue()).toBe("ada@example.com");
  }
  await page.goto("/.well-known/change-password");
  await arrive(page, "Forgot your password?");
});

test("a phone offers the right keyboards", async () => {
  const page = await open("/login");
  const keyboard = (name: string) =>
    page.evaluate((field) => {
      const { inputMode, enterKeyHint, autocapitalize, spellcheck } = document.querySelector<HTMLInputElement>(
        `input[name=${field}]`,
      )!;
      return { inputMode, enterKeyHint, autocapitalize, spellcheck };
    }, name);
  const plain = { autocapitalize: "none", spellcheck: false };
  expect(await keyboard("email")).toEqual({ ...plain, inputMode: "email", enterKeyHint: "next" });
  expect(await keyboard("password")).toEqual({ ...plain, inputMode: "", enterKeyHint: "go" });
});

test("a password can be shown, and is hidden again when it is sent", async () => {
  const page = await open("/login");
  const type = () => passwordOf(page).getAttribute("type");
  await page.getByLabel("Email").fill("ada@example.com");
  await passwordOf(page).fill("not the password");
  await page.getByRole("button", { name: "Show password" }).click();
  expect(await type()).toBe("text");
  await page.getByRole("button", { name: "Hide password" }).click();
  expect(await type()).toBe("password");
  await page.getByRole("button", { name: "Show password" }).click();

  let answer = () => {};
  await page.route("**/login.data*", async (route) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    await route.continue();
  });
  await page.getByRole("button", { name: "Log in" }).click();
  await page.locator("button[aria-busy=true]").waitFor();
  expect(await type()).toBe("password");
  answer();
  await page.getByRole("alert").waitFor();
});

test("without JavaScript there is no button that would do nothing", async () => {
  const page = await site.visit({ javaScriptEnabled: false });
  await page.goto(resetPage);
  expect(await page.getByRole("button").allTextContents()).toEqual(["Change the password"]);
});

test("Caps Lock is pointed out while a password is typed, and only then", async () => {
  const page = await open("/login");
  const said = page.getByText("Caps Lock is on.");
  const press = (capsLock: boolean) =>
    passwordOf(page).evaluate((input, on) => {
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "A", bubbles: true, modifierCapsLock: on }));
    }, capsLock);
  await passwordOf(page).focus();
  expect(await said.count()).toBe(0);
  await press(true);
  await said.waitFor();
  await press(false);
  await said.waitFor({ state: "detached" });
  await press(true);
  await said.waitFor();
  await page.getByLabel("Email").focus();
  await said.waitFor({ state: "detached" });
});

test("the strength of a new password is told in words, by what is loaded only then", async () => {
  const page = await site.visit();
  const scripts: string[] = [];
  page.on("request", (request) => scripts.push(new URL(request.url()).pathname));
  await page.goto(resetPage, { waitUntil: "networkidle" });
  const judge = /password-strength/;
  expect(scripts.filter((path) => judge.test(path))).toEqual([]);

  const hint = page.getByRole("status").first();
  expect(await hint.textContent()).toBe("Use at least 8 characters.");
  const told: [string, string][] = [
    ["pass", "Too short: use at least 8 characters."],
    ["password", "Very easy to guess: add words."],
    ["ada@example.com", "Very easy to guess: add words."],
    ["quiet lamps over the harbour", "Very strong."],
  ];
  for (const [password, words] of told) {
    await newPasswordOf(page).fill(password);
    await hint.getByText(words, { exact: true }).waitFor();
  }
  expect(scripts.filter((path) => judge.test(path))).toHaveLength(1);
});

test("a password can be pasted into every field", async () => {
  const page = await open(resetPage);
  for (const label of ["New password", "New password, again"]) {
    const prevented = await page.getByLabel(label, { exact: true }).evaluate((input) => {
      const paste = new ClipboardEvent("paste", { bubbles: true, cancelable: true, clipboardData: new DataTransfer() });
      return !input.dispatchEvent(paste);
    });
    expect(prevented).toBe(false);
  }
});

test("a form is sent once, however often it is clicked, and says that it is busy", async () => {
  const page = await open("/forgot-password");
  let posts = 0;
  let answer = () => {};
  await page.route("**/forgot-password.data*", async (route) => {
    if (route.request().method() === "POST") posts++;
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    await route.continue();
  });
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  const busy = page.locator("button[aria-busy=true][aria-disabled=true]");
  await busy.waitFor();
  await busy.click({ force: true });
  await page.getByLabel("Email").press("Enter");
  answer();
  await arrive(page, "Check your mail");
  expect(posts).toBe(1);
});

/** Logs in with a wrong password: focus is on its field then, and the address still in its own. */
async function expectFocusOnError(page: Page): Promise<void> {
  await page.getByLabel("Email").fill("Ada@Example.com");
  await passwordOf(page).fill("not the password");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  await page.locator("input[name=password]:focus").waitFor();
  expect(await page.getByLabel("Email").inputValue()).toBe("Ada@Example.com");
}

test("focus goes to the first error, and what was typed stays", async () => {
  const page = await open("/login");
  await expectFocusOnError(page);
});

test("without JavaScript focus goes to the first error too, and the passwords are gone", async () => {
  const page = await site.visit({ javaScriptEnabled: false });
  await page.goto("/login");
  await expectFocusOnError(page);
  expect(await passwordOf(page).inputValue()).toBe("");
});

test("a new page is read from its heading, and what happened before anything else", async () => {
  const page = await open("/login");
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await arrive(page, "Forgot your password?");
  await page.locator("h1:focus").waitFor();
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await arrive(page, "Check your mail");
  const focused = page.locator("[role=status]:focus");
  await focused.getByText("nobody@example.com").waitFor();
  await page.getByRole("button", { name: "Send it again" }).click();
  await focused.filter({ hasText: /^Asked again\. If there is an account/ }).waitFor();
});

test.each(["/login", "/forgot-password", "/register", resetPage, "/nowhere"])(
  "on %s a finger meets at least 44 px of what it is meant for",
  async (path) => {
    const page = await site.visit({ viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true });
    await page.goto(path, { waitUntil: "networkidle" });
    const missed = await page.evaluate(() =>
      [...document.querySelectorAll("a, button, input:not([type=hidden])")]
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

test("without JavaScript a link that is asked for again says so too", async () => {
  const page = await site.visit({ javaScriptEnabled: false });
  await page.goto("/forgot-password");
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await arrive(page, "Check your mail");
  expect(await page.getByText("Asked again.").count()).toBe(0);
  await page.getByRole("button", { name: "Send it again" }).click();
  await page
    .getByRole("status")
    .getByText(/^Asked again\. If there is an account/)
    .waitFor();
});

test("the keyboard alone goes through the login page in its order", async () => {
  const page = await open("/login");
  const names: string[] = [];
  const unmarked: string[] = [];
  for (let stop = 0; stop < 8; stop++) {
    await page.keyboard.press("Tab");
    const { name, marked } = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement;
      const { outlineStyle, boxShadow } = getComputedStyle(element.closest(".reveal:has(input:focus)") ?? element);
      return {
        name: element.getAttribute("aria-label") ?? element.getAttribute("name") ?? element.textContent ?? "",
        marked: outlineStyle !== "none" || boxShadow !== "none",
      };
    });
    names.push(name);
    if (!marked) unmarked.push(name);
  }
  expect(unmarked).toEqual([]);
  expect(names).toEqual([
    "Latchkey",
    "email",
    "password",
    "Show password",
    "Log in",
    "Forgot your password?",
    "Continue with single sign-on",
    "Create one",
  ]);
});

test("the page of a sent mail says that it is in the server's output, and names no page that only development has", async () => {
  const page = await open("/forgot-password");
  await page.getByLabel("Email").fill("nobody@example.com");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("No mail leaves this server: it is in the server’s output.").waitFor();
  expect(await page.locator("a[href='/dev/mails']").count()).toBe(0);
});

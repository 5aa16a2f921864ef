import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import ConfirmEmail from "~/routes/account.email";
import CompleteRegistration from "~/routes/register_.complete";
import ResetPassword from "~/routes/reset-password";
import { renderPage } from "../support/render-page";

const loaded = { email: "ada@example.com", token: "f".repeat(64) };

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);

test("the page of a reset fits who has never had a password", async () => {
  await renderPage("/reset-password", ResetPassword, { loaded });
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("Choose a password");
  screen.getByRole("button", { name: "Save the password" });
});

test.each([
  ["a dead link", { problem: "dead" }],
  ["a damaged link", { problem: "incomplete" }],
])("with registration closed, %s leads an invited person to a new one", async (_, problem) => {
  const closed = { ...loaded, ...problem, registrationClosed: true };
  await renderPage("/register/complete", CompleteRegistration, { loaded: closed });
  screen.getByText(/ask whoever invited you/);
  const { form } = screen.getByRole<HTMLButtonElement>("button", { name: "I was invited: send me the link" });
  expect(form?.getAttribute("action")).toBe("/register");
  expect(new FormData(form ?? undefined).get("email")).toBe(loaded.email);
});

test('the page of an invitation has one "or", and below it the provider and the passkey', async () => {
  const invited = { name: "", provider: "Google", inApp: null };
  await renderPage("/register/complete", CompleteRegistration, { loaded: { ...loaded, passkeys: true, invited } });
  const ways = [...document.querySelectorAll("main button[type=submit], main .button, main .or")];
  expect(ways.map(({ textContent }) => textContent?.trim())).toEqual([
    "Create the account",
    "or",
    "Sign in with Google",
    "Use a passkey instead",
  ]);
});

describe.each([
  {
    path: "/reset-password",
    Page: ResetPassword,
    submit: "Save the password",
    invalidLinkMessage: "This reset link is invalid or has expired.",
    again: "/forgot-password",
  },
  {
    path: "/register/complete",
    Page: CompleteRegistration,
    submit: "Create the account",
    invalidLinkMessage: "This link is invalid or has expired.",
    again: "/register",
  },
])("$path", ({ path, Page, submit, invalidLinkMessage, again }) => {
  async function choose(refused: unknown) {
    const { posted, user } = await renderPage(path, Page, { loaded, refused });
    await user.type(field("Password"), "quiet lamps");
    await user.type(field("Password, again"), "quiet lamp");
    await user.click(screen.getByRole("button", { name: submit }));
    return posted;
  }

  test("posts the new password with the fields of the link", async () => {
    const posted = await choose({ typed: loaded });
    const passwords = { password: "quiet lamps", passwordConfirmation: "quiet lamp" };
    const name = path === "/register/complete" && { name: "" };
    expect(posted.mock.calls).toEqual([[path, { ...loaded, ...name, ...passwords }]]);
  });

  test("posts to the address of the link, so that a reload or another language after a refusal still has it", async () => {
    const address = `${path}?email=ada%40example.com&token=${loaded.token}`;
    await renderPage(address, Page, { loaded: { ...loaded, passkeys: true } });
    const forms = [...document.querySelectorAll("main form")].map((form) => form.getAttribute("action"));
    expect(forms).toEqual([address, address]);
  });

  test("has the address in a read-only field for password managers", async () => {
    await renderPage(path, Page, { loaded });
    expect(field("Email").autocomplete).toBe("username");
    expect(field("Email").readOnly).toBe(true);
  });

  describe("with an error of the confirmation", () => {
    let error: HTMLElement;

    beforeEach(async () => {
      await choose({ typed: loaded, errors: { passwordConfirmation: "The two passwords are not the same." } });
      error = await screen.findByText("The two passwords are not the same.");
    });

    test("shows it at its field alone", () => {
      expect(field("Password, again").getAttribute("aria-describedby")).toContain(error.id);
      expect(field("Password").getAttribute("aria-invalid")).toBeNull();
    });

    test("moves the focus to its field", () => {
      expect(document.activeElement).toBe(field("Password, again"));
    });

    test("keeps the link's token", () => {
      expect(document.querySelector<HTMLInputElement>("input[name=token]")?.value).toBe(loaded.token);
    });
  });

  describe.each([
    ["dead", "This link has expired or was used already."],
    ["incomplete", "This link is not whole: copy all of it from the mail."],
  ])("of a link that is %s", (problem, text) => {
    beforeEach(() => renderPage(path, Page, { loaded: { ...loaded, problem } }));

    test("says so first", () => {
      expect(screen.getByRole("alert").textContent).toBe(text);
    });

    test("offers a new link above everything else", () => {
      const [first] = screen.getAllByRole<HTMLButtonElement>("button");
      expect(first?.textContent).toBe("Send a new link");
      expect(first?.form?.getAttribute("action")).toBe(again);
      expect(new FormData(first?.form ?? undefined).get("email")).toBe(loaded.email);
    });

    test("has its form, folded", () => {
      expect(field("Password").closest("details")?.open).toBe(false);
      expect(document.querySelector<HTMLInputElement>("details input[name=token]")?.value).toBe(loaded.token);
    });
  });

  describe("after the form of an invalid link", () => {
    beforeEach(async () => {
      await choose({ typed: loaded, invalidLink: invalidLinkMessage });
      await screen.findByRole("alert");
    });

    test("says that the link is invalid", () => {
      expect(screen.getByRole("alert").textContent).toBe(invalidLinkMessage);
      expect(screen.queryByLabelText("Password")).toBeNull();
    });

    test("offers a new link for the same address", () => {
      expect(field("Email").value).toBe(loaded.email);
      const button = screen.getByRole<HTMLButtonElement>("button", { name: "Send a new link" });
      expect(button.form?.getAttribute("action")).toBe(again);
    });

    test("leads who has used the link to the login page", () => {
      expect(screen.getByRole("link", { name: "log in" }).getAttribute("href")).toBe("/login");
    });
  });
});

describe("/account/email", () => {
  test.each([
    ["asks for the account first", "Show the account", "show"],
    ["lets whoever did not ask decline", "I did not ask for this", "decline"],
  ])("%s", async (_what, name, intent) => {
    const { posted, user } = await renderPage("/account/email", ConfirmEmail, { loaded });
    expect(screen.queryByRole("button", { name: "Confirm the address" })).toBeNull();
    await user.click(screen.getByRole("button", { name }));
    const { email, token } = loaded;
    expect(posted.mock.calls).toEqual([["/account/email", { email, token, intent }]]);
  });

  describe("when the account is shown", () => {
    let page: Awaited<ReturnType<typeof renderPage>>;

    beforeEach(async () => {
      const shown = { typed: loaded, account: "old@example.com" };
      page = await renderPage("/account/email", ConfirmEmail, { loaded, refused: shown });
      await page.user.click(screen.getByRole("button", { name: "Show the account" }));
      await screen.findByText("old@example.com");
    });

    test("names its two addresses", () => {
      expect(screen.getAllByRole("definition").map(({ textContent }) => textContent)).toEqual([
        "old@example.com",
        loaded.email,
      ]);
    });

    test("posts the fields of the link alone", async () => {
      await page.user.click(screen.getByRole("button", { name: "Confirm the address" }));
      expect(page.posted.mock.calls.at(-1)).toEqual(["/account/email", loaded]);
    });
  });

  test.each([
    ["declined", "status", "Nothing was changed, and the link no longer works."],
    ["another_account", "alert", /^You are signed in to another account than the one/],
  ])("says what was done: %s", async (outcome, role, text) => {
    const refused = { typed: loaded, outcome };
    const { user } = await renderPage("/account/email", ConfirmEmail, { loaded, refused });
    await user.click(screen.getByRole("button", { name: "Show the account" }));
    expect((await screen.findByRole(role)).textContent).toMatch(text);
  });

  test("posts to the link's own parameters alone", async () => {
    const address = `/account/email?email=ada%40example.com&token=${loaded.token}`;
    await renderPage(`${address}&return_to=//evil.example`, ConfirmEmail, { loaded });
    const forms = [...document.querySelectorAll("main form")].map((form) => form.getAttribute("action"));
    expect(forms).toEqual([address, address]);
  });

  test.each([
    ["dead", "This link has expired or was used already."],
    ["incomplete", "This link is not whole: copy all of it from the mail."],
  ])("says above its forms that the link is %s", async (problem, text) => {
    await renderPage("/account/email", ConfirmEmail, { loaded: { ...loaded, problem } });
    expect(screen.getByRole("alert").textContent).toBe(text);
    const forms = screen.getByText("Try this link all the same").closest("details")?.querySelectorAll("form");
    expect(forms).toHaveLength(2);
  });

  test("leads to the account page when the link is invalid", async () => {
    const refused = { typed: loaded, invalidLink: "This link is invalid or has expired." };
    const { user } = await renderPage("/account/email", ConfirmEmail, { loaded, refused });
    await user.click(screen.getByRole("button", { name: "Show the account" }));
    expect((await screen.findByRole("alert")).textContent).toBe(refused.invalidLink);
    expect(screen.queryByRole("button", { name: "Confirm the address" })).toBeNull();
    expect(screen.getByRole("link", { name: "your account page" }).getAttribute("href")).toBe("/dashboard");
  });
});

// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import ConfirmEmail from "~/routes/account.email";
import CompleteRegistration from "~/routes/register_.complete";
import ResetPassword from "~/routes/reset-password";
import { renderPage } from "../support/render-page";

const loaded = { email: "ada@example.com", token: "f".repeat(64) };

const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);

test("an invalid registration link offers no new one when registration is closed", async () => {
  const invalidLink = "This link is invalid or has expired.";
  const answers = { loaded: { ...loaded, registrationClosed: true }, refused: { typed: loaded, invalidLink } };
  const { user } = await renderPage("/register/complete", CompleteRegistration, answers);
  await user.type(field("New password"), "quiet lamps");
  await user.type(field("New password, again"), "quiet lamps");
  await user.click(screen.getByRole("button", { name: "Create the account" }));
  expect((await screen.findByRole("alert")).textContent).toBe(invalidLink);
  expect(document.querySelector("form")).toBeNull();
  expect(screen.getByRole("link", { name: "log in" }).getAttribute("href")).toBe("/login");
});

describe.each([
  {
    path: "/reset-password",
    Page: ResetPassword,
    submit: "Change the password",
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
    await user.type(field("New password"), "quiet lamps");
    await user.type(field("New password, again"), "quiet lamp");
    await user.click(screen.getByRole("button", { name: submit }));
    return posted;
  }

  test("posts the new password with the fields of the link", async () => {
    const posted = await choose({ typed: loaded });
    const passwords = { password: "quiet lamps", passwordConfirmation: "quiet lamp" };
    expect(posted.mock.calls).toEqual([[path, { ...loaded, ...passwords }]]);
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
      expect(field("New password, again").getAttribute("aria-describedby")).toContain(error.id);
      expect(field("New password").getAttribute("aria-invalid")).toBeNull();
    });

    test("moves the focus to its field", () => {
      expect(document.activeElement).toBe(field("New password, again"));
    });

    test("keeps the link's token", () => {
      expect(document.querySelector<HTMLInputElement>("input[name=token]")?.value).toBe(loaded.token);
    });
  });

  describe.each([
    ["dead", "This link has expired or was used already. You can ask for a new one."],
    ["incomplete", "This link is not whole: copy all of it from the mail. You can ask for a new one."],
  ])("of a link that is %s", (problem, text) => {
    beforeEach(() => renderPage(path, Page, { loaded: { ...loaded, problem } }));

    test("says so above the form", () => {
      expect(screen.getByRole("alert").textContent).toBe(text);
      expect(field("New password").value).toBe("");
    });

    test("leads to a new one", () => {
      const link = screen.getByRole("link", { name: "ask for a new one" });
      expect(link.getAttribute("href")).toBe(`${again}?email=ada%40example.com`);
    });
  });

  describe("after the form of an invalid link", () => {
    beforeEach(async () => {
      await choose({ typed: loaded, invalidLink: invalidLinkMessage });
      await screen.findByRole("alert");
    });

    test("says that the link is invalid", () => {
      expect(screen.getByRole("alert").textContent).toBe(invalidLinkMessage);
      expect(screen.queryByLabelText("New password")).toBeNull();
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

  test("leads to the account page when the link is invalid", async () => {
    const refused = { typed: loaded, invalidLink: "This link is invalid or has expired." };
    const { user } = await renderPage("/account/email", ConfirmEmail, { loaded, refused });
    await user.click(screen.getByRole("button", { name: "Show the account" }));
    expect((await screen.findByRole("alert")).textContent).toBe(refused.invalidLink);
    expect(screen.queryByRole("button", { name: "Confirm the address" })).toBeNull();
    expect(screen.getByRole("link", { name: "your account page" }).getAttribute("href")).toBe("/dashboard");
  });
});

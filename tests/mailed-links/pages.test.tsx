// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { describe, expect, test } from "vitest";
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

  test("posts the link's address and token, and the new password twice", async () => {
    const posted = await choose({ typed: loaded });
    const passwords = { password: "quiet lamps", passwordConfirmation: "quiet lamp" };
    expect(posted.mock.calls).toEqual([[path, { ...loaded, ...passwords }]]);
    expect(field("Email").autocomplete).toBe("username");
    expect(field("Email").readOnly).toBe(true);
  });

  test("shows the error of the password at its field, and keeps the link's address and token", async () => {
    await choose({ typed: loaded, errors: { passwordConfirmation: "The two passwords are not the same." } });
    const error = await screen.findByText("The two passwords are not the same.");
    const confirmation = field("New password, again");
    expect(confirmation.getAttribute("aria-describedby")).toContain(error.id);
    expect(document.activeElement).toBe(confirmation);
    expect(field("New password").getAttribute("aria-invalid")).toBeNull();
    expect(document.querySelector<HTMLInputElement>("input[name=token]")?.value).toBe(loaded.token);
  });

  test.each([
    ["dead", "This link has expired or was used already. You can ask for a new one."],
    ["incomplete", "This link is not whole: copy all of it from the mail. You can ask for a new one."],
  ])("says above the form that the link is %s, and leads to a new one", async (problem, text) => {
    await renderPage(path, Page, { loaded: { ...loaded, problem } });
    expect(screen.getByRole("alert").textContent).toBe(text);
    const link = screen.getByRole("link", { name: "ask for a new one" });
    expect(link.getAttribute("href")).toBe(`${again}?email=ada%40example.com`);
    expect(field("New password").value).toBe("");
  });

  test("offers a new link for an invalid one, with the address filled in, and the login page to who has used it", async () => {
    await choose({ typed: loaded, invalidLink: invalidLinkMessage });
    expect((await screen.findByRole("alert")).textContent).toBe(invalidLinkMessage);
    expect(screen.queryByLabelText("New password")).toBeNull();
    expect(field("Email").value).toBe(loaded.email);
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Send a new link" });
    expect(button.form?.getAttribute("action")).toBe(again);
    expect(screen.getByRole("link", { name: "log in" }).getAttribute("href")).toBe("/login");
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

  test("names the account then, posts the link's address and token, and asks for nothing else", async () => {
    const shown = { typed: loaded, account: "old@example.com" };
    const { posted, user } = await renderPage("/account/email", ConfirmEmail, { loaded, refused: shown });
    await user.click(screen.getByRole("button", { name: "Show the account" }));
    await screen.findByText("old@example.com");
    expect(screen.getAllByRole("definition").map(({ textContent }) => textContent)).toEqual([
      "old@example.com",
      loaded.email,
    ]);
    await user.click(screen.getByRole("button", { name: "Confirm the address" }));
    expect(posted.mock.calls.at(-1)).toEqual(["/account/email", loaded]);
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

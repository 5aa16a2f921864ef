// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import Register from "~/routes/register";
import { renderPage } from "./render-page";

const loaded = { idpEnabled: true, provider: "GitHub", email: "", isMailLogged: false, linkMinutes: 60 };

test("the page has one field, for the address, and links to the provider and the login", async () => {
  await renderPage("/register", Register, { loaded });
  expect(screen.getAllByRole("textbox")).toEqual([screen.getByRole("textbox", { name: "Email" })]);
  expect(screen.getByRole("link", { name: "Continue with GitHub" }).getAttribute("href")).toBe("/auth/idp");
  expect(screen.getByRole("link", { name: "Log in" }).getAttribute("href")).toBe("/login");
});

test("idpEnabled false hides the provider's button", async () => {
  await renderPage("/register", Register, { loaded: { ...loaded, idpEnabled: false, provider: null } });
  expect(screen.queryByRole("link", { name: /Continue with/ })).toBeNull();
});

test("the page after the request names the address and can send the request again", async () => {
  const { user } = await renderPage("/register", Register, {
    loaded,
    refused: { status: "sent", email: "ada@example.com" },
  });
  await user.type(screen.getByRole("textbox", { name: "Email" }), "ada@example.com");
  await user.click(screen.getByRole("button", { name: "Continue" }));
  await screen.findByRole("heading", { level: 1, name: "Check your mail" });
  expect(screen.getByRole("status").textContent).toBe(
    "If mail reaches ada@example.com, a link to finish creating the account is on its way. It works once, within 60 minutes.",
  );
  expect(screen.getByRole("button", { name: "Send it again" })).toBeTruthy();
});

test("the page after a form without an address names no address", async () => {
  const { user } = await renderPage("/register", Register, { loaded, refused: { status: "sent", email: "" } });
  await user.type(screen.getByRole("textbox", { name: "Email" }), "ada@example.com{Enter}");
  expect((await screen.findByText(/^If mail reaches that address/)).getAttribute("role")).toBe("status");
});

test("a closed registration is said to be closed, without a form or the provider", async () => {
  await renderPage("/register", Register, { loaded: { ...loaded, registration: "closed" } });
  expect(screen.getByText("New accounts cannot be created here.")).toBeTruthy();
  expect(document.querySelector("form")).toBeNull();
  expect(screen.queryByRole("link", { name: /Continue with/ })).toBeNull();
  expect(screen.getByRole("link", { name: "Log in" }).getAttribute("href")).toBe("/login");
});

test("a registration for some domains says so, before the request and after it", async () => {
  const { user } = await renderPage("/register", Register, {
    loaded: { ...loaded, registration: "domains" },
    refused: { status: "sent", email: "ada@example.com" },
  });
  expect(screen.getByText(/^Accounts are for addresses of certain domains\. We will mail you a link/)).toBeTruthy();
  await user.type(screen.getByRole("textbox", { name: "Email" }), "ada@example.com{Enter}");
  expect((await screen.findByRole("status")).textContent).toBe(
    "If ada@example.com may have an account, a link to finish creating it is on its way. It works once, within 60 minutes.",
  );
});

import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import ForgotPassword from "~/routes/forgot-password";
import Register from "~/routes/register";
import { renderPage } from "../support/render-page";

const loaded = { idpEnabled: true, provider: "GitHub", email: "", registration: "open", isMailLogged: false };
const sent = { status: "sent", email: "ada@example.com" };

const emailField = () => screen.getByRole<HTMLInputElement>("textbox", { name: "Email" });

describe.each([
  {
    path: "/forgot-password",
    Page: ForgotPassword,
    submit: "Send the link",
    login: "Back to log in",
    answer:
      /^If there is an account for ([\w@. ]+), a link to reset its password is on its way\. It works once, within 60 minutes\.$/,
  },
  {
    path: "/register",
    Page: Register,
    submit: "Continue",
    login: "Log in",
    answer:
      /^If mail reaches ([\w@. ]+), a link to finish creating the account is on its way\. It works once, within 60 minutes\.$/,
  },
])("$path", ({ path, Page, submit, login, answer }) => {
  test("has one field with the query's address", async () => {
    await renderPage(path, Page, { loaded: { ...loaded, email: "ada@example.com" } });
    expect(screen.getAllByRole("textbox")).toEqual([emailField()]);
    expect(emailField().value).toBe("ada@example.com");
  });

  test("has a link to the login page", async () => {
    await renderPage(path, Page, { loaded });
    expect(screen.getByRole("link", { name: login }).getAttribute("href")).toBe("/login");
  });

  describe("after the request", () => {
    let page: Awaited<ReturnType<typeof renderPage>>;
    let more: HTMLDetailsElement | null | undefined;

    beforeEach(async () => {
      page = await renderPage(path, Page, { loaded, refused: sent });
      await page.user.type(emailField(), "ada@example.com");
      await page.user.click(screen.getByRole("button", { name: submit }));
      await screen.findByRole("heading", { level: 1, name: "Check your mail" });
      more = screen.getByText("Nothing there after a few minutes?").closest("details");
    });

    test("names the address", () => {
      expect(answer.exec(screen.getByRole("status").textContent ?? "")?.[1]).toBe("ada@example.com");
      expect(emailField().value).toBe("ada@example.com");
    });

    test("says behind a summary what to do if no mail arrives", () => {
      expect(more?.open).toBe(false);
      expect(more?.textContent).toContain("At most 5 mails are sent to an address in a quarter of an hour.");
    });

    test("can send it again", async () => {
      await page.user.click(screen.getByRole("button", { name: "Send it again" }));
      await screen.findByText(/^Asked again\./);
      expect(more?.open).toBe(true);
      expect(page.posted.mock.calls).toEqual(Array(2).fill([path, { email: "ada@example.com" }]));
    });
  });

  describe("after a request without an address", () => {
    const ask = async (isMailLogged = false) => {
      const refused = { ...sent, email: "" };
      const { user } = await renderPage(path, Page, { loaded: { ...loaded, isMailLogged }, refused });
      await user.type(emailField(), "ada@example.com{Enter}");
      await screen.findByRole("heading", { level: 1, name: "Check your mail" });
    };

    test("names none", async () => {
      await ask();
      expect(answer.exec(screen.getByRole("status").textContent ?? "")?.[1]).toBe("that address");
    });

    test.each([true, false])("says whether mails are printed (%s)", async (isMailLogged) => {
      await ask(isMailLogged);
      const printed = screen.queryByText("No mail leaves this server: it is in the server’s output.");
      expect(printed !== null).toBe(isMailLogged);
    });
  });
});

test.each([true, false])("the registration page offers the provider where there is one (%s)", async (idpEnabled) => {
  await renderPage("/register", Register, { loaded: { ...loaded, idpEnabled } });
  const offered = screen.queryByRole("link", { name: "Sign in with GitHub" });
  expect(offered?.getAttribute("href")).toBe(idpEnabled ? "/auth/idp" : undefined);
});

describe("the page of a closed registration", () => {
  beforeEach(() => renderPage("/register", Register, { loaded: { ...loaded, registration: "closed" } }));

  test("says that it is closed", () => {
    expect(screen.getByText("New accounts cannot be created here.")).toBeTruthy();
  });

  test("has a form for who was invited", () => {
    const button = screen.getByRole("button", { name: "I was invited: send me the link" });
    expect(button.closest("form")?.getAttribute("action")).toBe("/register");
    expect(button.closest("form")?.contains(emailField())).toBe(true);
  });

  test("does not offer the provider", () => {
    expect(screen.queryByRole("link", { name: /Sign in with/ })).toBeNull();
  });

  test("leads to the login page", () => {
    expect(screen.getByRole("link", { name: "Log in" }).getAttribute("href")).toBe("/login");
  });
});

describe("the page of a registration for some domains", () => {
  const open = () =>
    renderPage("/register", Register, { loaded: { ...loaded, registration: "domains" }, refused: sent });

  test("says so before the request", async () => {
    await open();
    expect(screen.getByText(/^Accounts are for addresses of certain domains\. We will mail you a link/)).toBeTruthy();
  });

  test("says so after the request", async () => {
    const { user } = await open();
    await user.type(emailField(), "ada@example.com{Enter}");
    expect((await screen.findByRole("status")).textContent).toBe(
      "If ada@example.com may have an account, a link to finish creating it is on its way. It works once, within 60 minutes.",
    );
  });
});

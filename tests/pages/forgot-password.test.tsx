// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import ForgotPassword from "~/routes/forgot-password";
import { renderPage } from "./render-page";

const loaded = { email: "", isMailLogged: false, linkMinutes: 60 };

const emailField = () => screen.getByRole<HTMLInputElement>("textbox", { name: "Email" });

test("the address of the query is filled in", async () => {
  await renderPage("/forgot-password", ForgotPassword, { loaded: { ...loaded, email: "ada@example.com" } });
  expect(emailField().value).toBe("ada@example.com");
  expect(screen.getByRole("link", { name: "Back to log in" }).getAttribute("href")).toBe("/login");
});

test("the page after the request names the address, says what to do if no mail arrives, and can send the request again", async () => {
  const { posted, user } = await renderPage("/forgot-password", ForgotPassword, {
    loaded,
    refused: { status: "sent", email: "ada@example.com" },
  });
  await user.type(emailField(), "ada@example.com");
  await user.click(screen.getByRole("button", { name: "Send the link" }));
  await screen.findByRole("heading", { level: 1, name: "Check your mail" });
  expect(screen.getByRole("status").textContent).toBe(
    "If there is an account for ada@example.com, a link to reset its password is on its way. It works once, within 60 minutes.",
  );
  expect(screen.getByRole("heading", { level: 2, name: "Nothing there after a few minutes?" })).toBeTruthy();
  expect(emailField().value).toBe("ada@example.com");

  await user.click(screen.getByRole("button", { name: "Send it again" }));
  await screen.findByText(/^Asked again\./);
  expect(posted.mock.calls).toEqual([
    ["/forgot-password", { email: "ada@example.com" }],
    ["/forgot-password", { email: "ada@example.com" }],
  ]);
});

test.each([true, false])(
  "the page says whether mails are only printed to the server's output (%s)",
  async (isMailLogged) => {
    const { user } = await renderPage("/forgot-password", ForgotPassword, {
      loaded: { ...loaded, isMailLogged },
      refused: { status: "sent", email: "ada@example.com" },
    });
    await user.type(emailField(), "ada@example.com{Enter}");
    await screen.findByRole("heading", { level: 1, name: "Check your mail" });
    expect(screen.queryByText("No mail leaves this server: it is in the server’s output.") !== null).toBe(isMailLogged);
  },
);

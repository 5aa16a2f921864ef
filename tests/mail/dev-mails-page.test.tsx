import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import Mails from "~/routes/dev.mails._index";
import DevelopmentSession from "~/routes/dev.session";
import { renderPage } from "../support/render-page";

describe("a mail", () => {
  const url = "http://localhost:3000/reset-password?email=ada%40example.com&token=ff";

  beforeEach(async () => {
    const mail = { to: "ada@example.com", subject: "Reset your password", text: `Reset your password:\n\n${url}\n` };
    await renderPage("/dev/mails", Mails, { loaded: [mail] });
  });

  test("is shown with its recipient", () => {
    expect(screen.getByRole("region", { name: "Reset your password" }).textContent).toContain("To ada@example.com");
  });

  test("has a working link", () => {
    expect(screen.getByRole("link", { name: url }).getAttribute("href")).toBe(url);
  });

  test("has a link to its HTML", () => {
    expect(screen.getByRole("link", { name: "As HTML" }).getAttribute("href")).toBe("/dev/mails/0");
  });

  test("is previewed in two widths", () => {
    const previews = ["phone", "desktop"].map((device) => screen.getByTitle(`Reset your password, ${device}`));
    expect(previews.map((preview) => [preview.getAttribute("src"), preview.getAttribute("width")])).toEqual([
      ["/dev/mails/0", "375"],
      ["/dev/mails/0", "768"],
    ]);
  });
});

test("without mails the page says that there is none", async () => {
  await renderPage("/dev/mails", Mails, { loaded: [] });
  expect(screen.getByText("None yet. They are kept until the server restarts.")).toBeTruthy();
});

test("the page leads to the form that signs in without a mail", async () => {
  await renderPage("/dev/mails", Mails, { loaded: [] });
  expect(screen.getByRole("link", { name: "Sign in without a mail" }).getAttribute("href")).toBe("/dev/session");
});

test("the form asks for an address", async () => {
  await renderPage("/dev/session", DevelopmentSession, { loaded: null });
  expect(screen.getByRole("textbox", { name: "Email" }).getAttribute("name")).toBe("email");
  expect(screen.getByRole("button", { name: "Sign in" }).closest("form")?.getAttribute("action")).toBe("/dev/session");
});

import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, test } from "vitest";
import { ErrorPage } from "~/components/page";
import { english, renderPage } from "../support/render-page";

const pages: [number, string, string, string][] = [
  [0, "No connection", "Try again", "/login?notice=idp_failed"],
  [400, "This address cannot be read", "Go to the start page", "/"],
  [403, "Sent from another site", "Open the form again", "/login?notice=idp_failed"],
  [404, "Page not found", "Go to the start page", "/"],
  [405, "This does not work here", "Go to the start page", "/"],
  [413, "Too much text", "Open the form again", "/login?notice=idp_failed"],
  [415, "Form not understood", "Open the form again", "/login?notice=idp_failed"],
  [422, "Form not understood", "Open the form again", "/login?notice=idp_failed"],
  [429, "Too many attempts", "Try again", "/login?notice=idp_failed"],
  [500, "Something went wrong", "Try again", "/login?notice=idp_failed"],
  [503, "Back in a moment", "Try again", "/login?notice=idp_failed"],
  [418, "Something went wrong", "Try again", "/login?notice=idp_failed"],
];

describe.each([
  [500, "help@example.com"],
  [503, null],
  [404, "help@example.com"],
  [0, "help@example.com"],
])("the error page of status %i with the support address %s", (status, supportEmail) => {
  const isOurs = status >= 500;

  beforeEach(async () => {
    const content = { ...english, brand: { ...english.brand, supportEmail } };
    await renderPage("/login", () => <ErrorPage status={status} requestId="0b0e0f0a" />, { loaded: null, content });
  });

  test(`${isOurs ? "has" : "does not have"} the id of the request`, () => {
    expect(screen.queryByText(/Request ID: 0b0e0f0a/) !== null).toBe(isOurs);
  });

  test(`${isOurs && supportEmail ? "has" : "does not have"} the support address`, () => {
    const written = screen.queryByRole("link", { name: "help@example.com" });
    expect(written?.getAttribute("href")).toBe(isOurs && supportEmail ? "mailto:help@example.com" : undefined);
  });
});

describe.each(pages)("the error page of status %i", (status, title, next, to) => {
  beforeEach(() => renderPage("/login?notice=idp_failed", () => <ErrorPage status={status} />, { loaded: null }));

  test(`has the title “${title}”`, () => {
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe(title);
  });

  test(`has one link: “${next}”`, () => {
    const links = screen.getAllByRole("link").filter((link) => link.closest("main"));
    expect(links.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([[next, to]]);
  });
});

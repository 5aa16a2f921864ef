// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { ErrorPage } from "~/components/error-page";
import { renderPage } from "../support/render-page";

const pages: [number, string, string, string][] = [
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

test.each(pages)("the error page of status %i has its title and one link", async (status, title, next, to) => {
  await renderPage("/login?notice=idp_failed", () => <ErrorPage status={status} />, { loaded: null });
  expect(screen.getByRole("heading", { level: 1 }).textContent).toBe(title);
  const links = screen.getAllByRole("link").filter((link) => link.closest("main"));
  expect(links.map((link) => [link.textContent, link.getAttribute("href")])).toEqual([[next, to]]);
});

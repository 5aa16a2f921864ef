// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import type { ComponentType } from "react";
import { expect, test } from "vitest";
import { texts } from "#server/languages/texts";
import { ErrorPage } from "~/components/error-page";
import { Footer } from "~/components/footer";
import type { PageContent } from "~/document/page-context";
import ConfirmEmail from "~/routes/account.email";
import AccountDeleted from "~/routes/account-deleted";
import Dashboard from "~/routes/dashboard";
import ForgotPassword from "~/routes/forgot-password";
import Login from "~/routes/login";
import Register from "~/routes/register";
import CompleteRegistration from "~/routes/register_.complete";
import ResetPassword from "~/routes/reset-password";
import { english, renderPage } from "../support/render-page";

function bracketed<T>(text: T): T {
  if (typeof text === "string") return `⟦${text.replace(/<(\w+)>(.*?)<\/\1>/g, "⟧<$1>⟦$2⟧</$1>⟦")}⟧` as T;
  return Object.fromEntries(Object.entries(Object(text)).map(([key, value]) => [key, bracketed(value)])) as T;
}

const pseudo: PageContent = { ...english, texts: bracketed(texts.en.pages) };

/** What a page shows without brackets: names, addresses and moments of the data have them too. */
function unbracketed(): string[] {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const shown: string[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) shown.push(node.textContent ?? "");
  for (const element of document.querySelectorAll("[aria-label], [alt], [placeholder], [title]:not(time)")) {
    for (const name of ["aria-label", "alt", "placeholder", "title"]) shown.push(element.getAttribute(name) ?? "");
  }
  const outside = shown.map((text) => text.replace(/⟦[^⟦⟧]*(?:⟦[^⟦⟧]*⟧[^⟦⟧]*)*⟧/g, ""));
  return outside.filter((text) => /\p{L}/u.test(text));
}

const link = { email: "⟦ada@example.com⟧", token: "f".repeat(64) };
const guest = { idpEnabled: true, provider: "⟦Google⟧", notice: null, returnTo: null };
const asked = { email: link.email, isMailLogged: true, linkMinutes: 60, registration: "open" };
const moment = { at: "2026-11-20T10:30:00.000Z", ago: "⟦20 days ago⟧", exact: "" };
const session = { browser: "⟦Firefox⟧", since: moment, lastSeen: moment };
const account = {
  user: { name: "⟦Ada⟧", email: link.email, picture: null, password: true, linked: true },
  provider: "⟦Google⟧",
  passkeys: {
    items: [{ id: "id", name: "⟦My key⟧", added: moment, lastUsed: moment }],
    newName: "⟦Firefox⟧",
    account: { rpId: "localhost", userId: "AAAA" },
    offered: true,
    upgradable: false,
  },
  canConnect: false,
  signInAgain: true,
  notice: null,
  sessions: [
    { id: "1", ...session, current: true },
    { id: "2", ...session, current: false },
  ],
};

const pages: [state: string, path: string, Page: ComponentType, loaded: unknown][] = [
  ["login", "/login", Login, guest],
  ...["password_reset", "email_changed", "sign_in_again", "idp_failed"].map((notice): (typeof pages)[number] => [
    `login, ${notice}`,
    "/login",
    Login,
    { ...guest, notice },
  ]),
  ["login without a provider", "/login", Login, { ...guest, provider: null, notice: "idp_failed" }],
  ["forgotten password", "/forgot-password", ForgotPassword, asked],
  ["registration", "/register", Register, { ...guest, ...asked }],
  ["closed registration", "/register", Register, { ...guest, ...asked, registration: "closed" }],
  ["registration of domains", "/register", Register, { ...guest, ...asked, registration: "domains" }],
  ["completion", "/register/complete", CompleteRegistration, link],
  ["reset", "/reset-password", ResetPassword, link],
  ["confirmation of an address", "/account/email", ConfirmEmail, link],
  ["account", "/dashboard", Dashboard, account],
  ...["idp_connected", "email_changed"].map((notice): (typeof pages)[number] => [
    `account, ${notice}`,
    "/dashboard",
    Dashboard,
    { ...account, notice },
  ]),
  ["account, not connected", "/dashboard", Dashboard, { ...account, notice: "idp_failed" }],
  [
    "account without a password",
    "/dashboard",
    Dashboard,
    { ...account, user: { ...account.user, password: false, name: null } },
  ],
  [
    "account that can be connected",
    "/dashboard",
    Dashboard,
    { ...account, provider: null, canConnect: true, user: { ...account.user, linked: false } },
  ],
  ["deleted account", "/account-deleted", AccountDeleted, {}],
  ...[400, 403, 404, 405, 413, 415, 422, 429, 500, 503].map((status): (typeof pages)[number] => [
    `error ${status}`,
    "/nowhere",
    () => <ErrorPage status={status} />,
    {},
  ]),
];

test.each(pages)("%s: every text is one of the language file's", async (_state, path, Page, loaded) => {
  await renderPage(path, Page, { loaded, content: pseudo });
  expect(screen.getByRole("main").textContent).toContain("⟦");
  const letter = document.querySelector(".avatar")?.textContent;
  expect(unbracketed().filter((text) => text !== "Latchkey" && text !== letter)).toEqual([]);
});

test("after a form, every text is one of the language file's or of the answer's", async () => {
  const { user } = await renderPage("/forgot-password?again", ForgotPassword, {
    loaded: { ...asked, email: "" },
    refused: { status: "sent", email: link.email },
    content: pseudo,
  });
  await user.type(screen.getByRole("textbox"), "ada@example.com{Enter}");
  await screen.findByRole("status");
  expect(unbracketed().filter((text) => text !== "Latchkey")).toEqual([]);
});

function PageWithSwitch() {
  return (
    <>
      <h1>⟦⟧</h1>
      <Footer />
    </>
  );
}

test("the switch shows each language by its own name, and nothing else", async () => {
  await renderPage("/login?a=b", PageWithSwitch, { loaded: {}, content: pseudo });
  expect(unbracketed()).toEqual(["English", "Deutsch", "Français", "Español", "日本語", "العربية"]);
  expect(document.querySelector<HTMLInputElement>("input[name=page]")?.value).toBe("/login?a=b");
});

import { readFileSync } from "node:fs";
import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { providerMark } from "#server/provider/label";
import { providers } from "#server/provider/providers";
import { providerNames } from "#server/settings/provider-names";
import Login from "~/routes/login";
import { configure } from "../support/configure";
import { english, renderPage } from "../support/render-page";

const loaded = { idpEnabled: true, provider: "Google", notice: null as string | null, hasRegistration: true };

test("the form posts the address with the password", async () => {
  const { posted, user } = await renderPage("/login", Login, { loaded });
  await user.type(screen.getByRole("textbox", { name: "Email" }), "ada@example.com");
  await user.type(screen.getByLabelText("Password"), "a secret of mine");
  await user.click(screen.getByRole("button", { name: "Log in" }));
  expect(posted.mock.calls).toEqual([["/login", { email: "ada@example.com", password: "a secret of mine" }]]);
});

test.each([
  ["https:", "tried=1; Max-Age=1; SameSite=Strict; Secure"],
  ["http:", "tried=1; Max-Age=1; SameSite=Strict"],
])("the cookie that finds out whether cookies are blocked, over %s", async (protocol, cookie) => {
  const set = vi.spyOn(document, "cookie", "set");
  vi.stubGlobal("location", { protocol });
  onTestFinished(() => void vi.unstubAllGlobals());
  await renderPage("/login", Login, { loaded });
  expect(set.mock.calls).toContainEqual([cookie]);
});

test.each([
  ["Forgot your password?", "/forgot-password"],
  ["Create one", "/register"],
])("the link “%s” leads to %s", async (name, to) => {
  await renderPage("/login", Login, { loaded });
  expect(screen.getByRole("link", { name }).getAttribute("href")).toBe(to);
});

test("without passwords there is the provider alone", async () => {
  const content = { ...english, passwordless: "Google" };
  await renderPage("/login", Login, { loaded: { ...loaded, hasRegistration: false }, content });
  expect(document.querySelectorAll("form, input, .or")).toHaveLength(0);
  const links = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
  expect(links).toEqual(["/", "/auth/idp"]);
});

test.each([
  ["the provider's button is a plain link", {}, "Sign in with Google", "/auth/idp"],
  ["without external sign-in there is no such button", { idpEnabled: false, provider: null }, /Continue/, undefined],
  ["a closed registration is not offered", { hasRegistration: false }, "Create one", undefined],
])("%s", async (_what, changed, name, to) => {
  await renderPage("/login", Login, { loaded: { ...loaded, ...changed } });
  expect(screen.queryByRole("link", { name })?.getAttribute("href")).toBe(to);
  const leading = [...document.links].map((link) => link.getAttribute("href"));
  expect(leading.includes("/auth/idp")).toBe(!("idpEnabled" in changed));
  expect(leading.includes("/register")).toBe(!("hasRegistration" in changed));
});

const drawn = readFileSync("app/components/provider-marks.svg", "utf8");
describe.each(providerNames)("the mark in the button of %s", (provider) => {
  let marks: SVGElement[];

  beforeEach(async () => {
    const issuer = provider === "oidc" && { IDP_ISSUER: "https://idp.example" };
    const client = { IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" };
    configure({ APP_URL: "http://localhost:3000", IDP_PROVIDER: provider, ...client, ...issuer });
    const content = { ...english, providerMark: providerMark() };
    await renderPage("/login", Login, { loaded, content });
    marks = [...screen.getByRole("link", { name: "Sign in with Google" }).querySelectorAll("svg")];
  });

  test("is the provider's", () => {
    const id = /#(.*)/.exec(marks[0]?.querySelector("use")?.getAttribute("href") ?? "")?.[1];
    expect(id).toBe(providers[provider].label ?? "other");
    expect(drawn).toContain(`<symbol id="${id}" `);
  });

  test("is hidden from screen readers", () => {
    expect(marks.map((mark) => mark.getAttribute("aria-hidden"))).toEqual(["true"]);
  });
});

const written = [
  ["an element alone", "<register>Neu</register>"],
  ["the same words twice", "Neu? <register>Neu</register>Neu? <register>Neu</register>Neu? "],
];
test.each(written)("a language may write %s: %s", async (_what, createAccount = "") => {
  const login = { ...english.texts.login, createAccount };
  await renderPage("/login", Login, { loaded, content: { ...english, texts: { ...english.texts, login } } });
  const links = screen.getAllByRole("link", { name: "Neu" });
  expect(links[0]?.closest("p")?.textContent).toBe(createAccount.replaceAll(/<[^>]+>/g, ""));
  for (const link of links) expect(link.getAttribute("href")).toBe("/register");
});

describe.each([
  { again: { tooOld: 10 }, says: "Signed in as ada@example.com." },
  { again: { notice: "sign_in_again" }, says: undefined }, // The session has ended.
])("who must sign in again ($again)", ({ again, says }) => {
  beforeEach(() => renderPage("/login", Login, { loaded: { ...loaded, ...again, email: "ada@example.com" } }));

  test("reads which account is signed in, while its session goes on", () => {
    expect(screen.queryByText("ada@example.com")?.parentElement?.textContent).toBe(says);
  });

  test("does not type the address again", () => {
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Email" }).value).toBe("ada@example.com");
  });

  test("is offered no registration", () => {
    expect(screen.queryByRole("link", { name: "Create one" })).toBeNull();
  });
});

describe("a notice", () => {
  test("says that the session has ended", async () => {
    await renderPage("/login", Login, { loaded: { ...loaded, sessionEnded: true } });
    expect(screen.getByText("Your session has ended. Log in and try again.").getAttribute("role")).toBe("status");
  });

  test("says that the password was changed", async () => {
    await renderPage("/login", Login, { loaded: { ...loaded, notice: "password_reset" } });
    expect(screen.getByText("Your new password is saved. Log in with it.").getAttribute("role")).toBe("status");
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.queryByRole("link", { name: "Use another account" })).toBeNull();
  });

  test("says that the external sign-in failed", async () => {
    await renderPage("/login", Login, { loaded: { ...loaded, notice: "idp_failed" } });
    const failed = "Signing in with Google did not work. Try again, or log in another way.";
    expect(screen.getByRole("alert").textContent).toBe(failed);
  });

  test("of a failed external sign-in links to a new attempt", async () => {
    await renderPage("/login", Login, { loaded: { ...loaded, notice: "idp_failed" } });
    expect(screen.getByRole("link", { name: "Try again" }).getAttribute("href")).toBe("/auth/idp");
  });

  const lead = "Signing in with Google did not work.";
  const again = "Try again, or log in another way.";
  const connect = "Log in, then connect Google on your account page.";
  const create = `${connect} No account yet? Create one`;
  const another = "Your account is connected to another Google account. Use that one, or log in another way.";

  describe.each([
    ["cancelled", `It was cancelled. ${again}`],
    ["stale", `It took too long. ${again}`],
    ["noAnswer", `There was no answer from Google. ${again}`],
    [null, again],
    ["unverified", `Your email address is not confirmed by Google. ${create}`],
    ["unusable", `The email address that Google sent cannot be used here. ${create}`],
    ["noEmail", `There was no email address in what Google sent. ${create}`],
    ["closed", "Accounts are for addresses of certain domains."],
    ["disconnected", `It is disconnected from your account. ${connect}`],
    ["otherIdentity", another],
  ])("of a failure (%s)", (problem, sentence) => {
    beforeEach(async () => {
      const failed = { ...loaded, notice: "idp_failed", problem, returnTo: "/notes", otherAccount: true };
      await renderPage("/login", Login, { loaded: failed });
    });

    test("says what helps", () => {
      expect(screen.getByRole("alert").textContent?.trim()).toBe(`${lead} ${sentence}`);
    });

    test("keeps the target on the way to the provider", () => {
      const hrefs = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
      expect(hrefs.filter((href) => href === "/auth/idp?return_to=%2Fnotes")).toHaveLength(
        sentence.includes("Try again") ? 2 : 1,
      );
    });

    test("keeps the target on the way to another account", () => {
      const other = screen.getByRole("link", { name: "Use another account" });
      expect(other.getAttribute("href")).toBe("/auth/idp?prompt=select_account&return_to=%2Fnotes");
    });

    test("keeps the target in the form", () => {
      expect(document.querySelector("form")?.getAttribute("action")).toBe("/login?return_to=%2Fnotes");
    });
  });

  test.each([
    ["unverified", "closed", `Your email address is not confirmed by Google. ${connect}`],
    ["closed", "closed", "New accounts cannot be created here."],
    ["closed", "domains", "Accounts are for addresses of certain domains."],
  ])("of a failure (%s, %s) offers no new account where there is none", async (problem, registration, sentence) => {
    const failed = { ...loaded, notice: "idp_failed", problem, registration, hasRegistration: false };
    await renderPage("/login", Login, { loaded: failed });
    expect(screen.getByRole("alert").textContent?.trim()).toBe(`${lead} ${sentence}`);
  });

  test("has no link to a new attempt when external sign-in is off", async () => {
    await renderPage("/login", Login, { loaded: { idpEnabled: false, provider: null, notice: "idp_failed" } });
    expect(screen.getByRole("alert").textContent).toBe("Signing in with the other service did not work.");
    expect(screen.queryByRole("link", { name: "Try again" })).toBeNull();
  });

  test.each(["", "anything", "toString"])("with an unknown name (%j) is ignored", async (notice) => {
    await renderPage("/login", Login, { loaded: { ...loaded, notice } });
    expect(screen.queryByRole("alert")).toBeNull();
    expect(screen.queryByText(/did not work|was changed/)).toBeNull();
  });
});

describe("the page of a recent sign-in", () => {
  const query = "return_to=%2Fpayments&max_age=600";

  beforeEach(async () => {
    const asked = { returnTo: "/payments", maxAge: 600, tooOld: 10, otherAccount: true, passkeys: true };
    await renderPage("/login", Login, { loaded: { ...loaded, ...asked } });
  });

  test("says why it is shown", () => {
    const why = "You logged in more than 10 minutes ago. Log in again to go on.";
    expect(screen.getByText(why).getAttribute("role")).toBe("status");
  });

  test("keeps in each link what was asked for", () => {
    const hrefs = screen.getAllByRole("link").map((link) => link.getAttribute("href"));
    expect(hrefs).toEqual(expect.arrayContaining([`/auth/idp?${query}`, `/auth/idp?prompt=select_account&${query}`]));
  });

  test("keeps in each form what was asked for", () => {
    const forms = [...document.querySelectorAll("form")].map((form) => form.getAttribute("action"));
    expect(forms).toEqual([`/login?${query}`, `/auth/passkey?${query}`]);
  });
});

describe("a refused login", () => {
  const message = "Email or password is incorrect.";
  let password: HTMLInputElement;

  beforeEach(async () => {
    const refused = { typed: { email: "ada@example.com" }, errors: {}, wrongPassword: true, message };
    const answers = { loaded: { ...loaded, notice: "password_reset" }, refused };
    const { user } = await renderPage("/login?notice=password_reset", Login, answers);
    await user.type(screen.getByRole("textbox", { name: "Email" }), "ada@example.com");
    await user.type(screen.getByLabelText("Password"), "wrong{Enter}");
    await screen.findByRole("alert");
    password = screen.getByLabelText<HTMLInputElement>("Password");
  });

  test("shows the error", () => {
    expect(screen.getByRole("alert").textContent).toBe(message);
  });

  test("replaces the notice", () => {
    expect(screen.queryByText(/was changed/)).toBeNull();
  });

  test("keeps the address", () => {
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Email" }).value).toBe("ada@example.com");
  });

  test("gives the address to the link to a reset", () => {
    const forgot = screen.getByRole("link", { name: "Forgot your password?" });
    expect(forgot.getAttribute("href")).toBe("/forgot-password?email=ada%40example.com");
  });

  test("moves the focus to the password", () => {
    expect(document.activeElement).toBe(password);
  });

  test("describes the password by its error", () => {
    expect(password.getAttribute("aria-invalid")).toBe("true");
    expect(password.getAttribute("aria-describedby")).toContain(screen.getByRole("alert").id);
  });
});

test("the error of a missing field is its accessible description", async () => {
  const refused = { typed: {}, errors: { email: "This field is missing, or was sent twice." }, message: null };
  const { user } = await renderPage("/login", Login, { loaded, refused });
  await user.type(screen.getByRole("textbox", { name: "Email" }), "ada@example.com");
  await user.type(screen.getByLabelText("Password"), "secret{Enter}");
  const error = await screen.findByText("This field is missing, or was sent twice.");
  const email = screen.getByRole("textbox", { name: "Email" });
  expect(email.getAttribute("aria-invalid")).toBe("true");
  expect(email.getAttribute("aria-describedby")).toBe(error.id);
  expect(document.activeElement).toBe(email);
});

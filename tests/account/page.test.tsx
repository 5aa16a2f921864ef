// @vitest-environment happy-dom

import { screen, within } from "@testing-library/react";
import { StrictMode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import Dashboard from "~/routes/dashboard";
import { twice } from "../support/passwords";
import { english, renderPage } from "../support/render-page";

const own = {
  id: "1",
  browser: "Firefox on Linux",
  since: { at: "2026-11-20T10:30:00.000Z", ago: "20 hours ago", exact: "20 November 2026 at 10:30 UTC" },
  lastSeen: { at: "2026-11-21T07:05:00.000Z", ago: "now", exact: "21 November 2026 at 07:05 UTC" },
};
const other = {
  id: "2",
  browser: "Safari on iOS",
  since: { at: "2026-11-01T23:59:00.000Z", ago: "19 days ago", exact: "1 November 2026 at 23:59 UTC" },
  lastSeen: { at: "2026-11-02T00:00:00.000Z", ago: "18 days ago", exact: "2 November 2026 at 00:00 UTC" },
};

const ada = {
  name: "Ada",
  email: "ada@example.com",
  picture: "https://pictures.example/ada.png",
  password: true,
  linked: true,
};

const loaded = {
  user: ada,
  provider: "Google",
  sessions: [
    { ...own, current: true },
    { ...other, current: false },
  ],
};

/** The passkeys of an account without one. */
const noPasskeys = {
  items: [],
  newName: null as string | null,
  offered: false,
  upgradable: false,
  account: { rpId: "localhost", userId: "AAECAw" },
};

const open = (changed: object = {}, more: Partial<Parameters<typeof renderPage>[2]> = {}, Page = Dashboard) =>
  renderPage("/dashboard", Page, { loaded: { ...loaded, ...changed }, ...more });

afterEach(() => void vi.unstubAllGlobals());

const section = (name: string) => within(screen.getByRole("region", { name }));

test("the owner reads that mails to the address do not arrive, and where to change it", async () => {
  await renderPage("/dashboard", Dashboard, { loaded: { ...loaded, user: { ...ada, undeliverable: true } } });
  screen.getByText(/mails to ada@example\.com do not arrive\. Change the address below, under “Your details”\./);
});

test("the account page shows the profile, the sign-in methods and the sessions with their times", async () => {
  await open();
  expect(screen.getByText("Ada")).toBeTruthy();
  expect(screen.getAllByText("ada@example.com")).toHaveLength(3);
  const ways = section("How you sign in").getAllByRole("listitem");
  expect(ways.map((way) => way.querySelector("p")?.textContent)).toEqual([
    "Email and passwordada@example.com",
    "GoogleConnected",
  ]);
  const sessions = section("Where you are signed in").getAllByRole("listitem");
  expect(sessions.map((session) => session.querySelector("p")?.textContent)).toEqual([
    "Firefox on Linux · this browserSigned in 20 hours ago · Last seen now",
    "Safari on iOSSigned in 19 days ago · Last seen 18 days ago",
  ]);
  const times = [own.since, own.lastSeen, other.since, other.lastSeen].map(({ at }) => at);
  expect([...document.querySelectorAll("time")].map(({ dateTime }) => dateTime)).toEqual(times);
});

test("without passwords no password is shown or offered", async () => {
  const user = { ...ada, password: false };
  const content = { ...english, passwordless: "Google" };
  await open({ user }, { content });
  const ways = section("How you sign in");
  expect(ways.getAllByRole("listitem").map((way) => way.textContent)).toEqual(["GoogleConnected"]);
  expect(ways.queryAllByRole("button")).toEqual([]);
});

test.each([
  ["where there are passwords", null, 1],
  ["with PASSWORDS=off", "Google", 0],
])("who has a passkey can disconnect the provider %s (%s: %i button)", async (_when, passwordless, buttons) => {
  const passkey = { id: "1", name: "Phone", added: own.since, used: null, backedUp: true, questioned: false };
  const passkeys = { ...noPasskeys, items: [passkey] };
  await open({ user: { ...ada, password: false }, passkeys }, { content: { ...english, passwordless } });
  expect(screen.queryAllByText("Disconnect")).toHaveLength(buttons);
});

test.each([
  ["https://pictures.example/ada.png", true],
  [null, false],
])("the picture %s is shown: %s", async (picture, shown) => {
  await open({ user: { ...ada, picture } });
  expect(document.querySelector("main img") !== null).toBe(shown);
});

test.each([
  ["Ada", "A"],
  ["  ‮Éva", "É"],
  ["アダ", "ア"],
  [null, "a"],
])("without a picture, the name %s is shown as the letter %s", async (name, letter) => {
  await open({ user: { ...ada, name, picture: null } });
  expect(document.querySelector(".avatar")?.textContent).toBe(letter);
});

test("every action is a separate form", async () => {
  const { posted, user } = await open();
  const click = (name: string) => user.click(screen.getByRole("button", { name }));
  await user.click(screen.getByText("Change the password", { selector: "summary" }));
  await user.type(screen.getByLabelText("Current password"), "the current one");
  await user.type(screen.getByLabelText("New password"), "quiet lamps");
  await user.type(screen.getByLabelText("New password, again"), "quiet lamps");
  await click("Save the new password");
  await user.click(screen.getByText("Change the password", { selector: "summary" }));
  await click("Change the password by mail");
  await click("End this session");
  await click("End every other session");
  await user.click(screen.getByText("Change the email address", { selector: "summary" }));
  await user.type(screen.getByLabelText("New email address"), "new@example.com");
  await click("Send the link");
  await user.click(screen.getByText("Disconnect", { selector: "summary" }));
  await click("Disconnect Google");
  await user.click(screen.getByText("Delete my account", { selector: "summary" }));
  await user.type(screen.getByLabelText("Type your email address to confirm"), "ada@example.com");
  await click("Delete my account for good");
  expect(posted.mock.calls).toEqual([
    ["/dashboard", { intent: "change-password", currentPassword: "the current one", ...twice("quiet lamps") }],
    ["/dashboard", { intent: "send-password-link" }],
    ["/dashboard", { intent: "end-session", sessionId: "2" }],
    ["/dashboard", { intent: "end-other-sessions" }],
    ["/dashboard", { intent: "change-email", email: "new@example.com" }],
    ["/dashboard", { intent: "unlink-provider" }],
    ["/dashboard", { intent: "delete-account", email: "ada@example.com" }],
  ]);
  const logOut = screen.getByRole<HTMLButtonElement>("button", { name: "Log out" });
  expect(logOut.form?.getAttribute("action")).toBe("/logout");
});

test("the sections come in one order, after the button to log out", { tags: "7.4.4" }, async () => {
  await open();
  expect(screen.getAllByRole("heading", { level: 2 }).map(({ textContent }) => textContent)).toEqual([
    "How you sign in",
    "Where you are signed in",
    "Your details",
    "Delete your account",
  ]);
  expect(screen.getAllByRole("button")[0]?.textContent).toBe("Log out");
});

test("password managers find the address beside the passwords, and it is not sent", async () => {
  await open();
  const form = screen.getByLabelText<HTMLInputElement>("Current password").form;
  const fields = [...(form?.elements ?? [])] as HTMLInputElement[];
  const names = fields.map(({ name, autocomplete }) => [name, autocomplete]);
  expect(names.filter(([, autocomplete]) => autocomplete)).toEqual([
    ["", "username"],
    ["currentPassword", "current-password"],
    ["password", "new-password"],
    ["passwordConfirmation", "new-password"],
  ]);
});

test("a wrong current password keeps the form open and empties it, with the error at its field and the focus in it", async () => {
  const errors = { currentPassword: "This is not your current password.", password: "Choose another one." };
  const refused = { intent: "change-password", errors, typed: { email: "" } };
  const { user } = await open({}, { refused });
  await user.click(screen.getByText("Change the password", { selector: "summary" }));
  await user.type(screen.getByLabelText("New password"), "quiet lamps");
  await user.type(screen.getByLabelText("New password, again"), "quiet lamps");
  await user.type(screen.getByLabelText("Current password"), "wrong{Enter}");
  const error = await screen.findByText(errors.currentPassword);
  expect(error.closest("details")?.open).toBe(true);
  const field = screen.getByLabelText<HTMLInputElement>("Current password");
  expect(document.activeElement).toBe(field);
  expect(field.getAttribute("aria-describedby")).toContain(error.id);
  expect(screen.getByText(errors.password)).toBeTruthy();
  for (const label of ["Current password", "New password", "New password, again"]) {
    expect(screen.getByLabelText<HTMLInputElement>(label).value).toBe("");
  }
});

test.each([
  ["change-email", "Change the email address", "New email address"],
  ["delete-account", "Delete my account", "Type your email address to confirm"],
])("a refused %s keeps its form open with what was typed, and the others closed", async (intent, summary, label) => {
  const refused = { intent, errors: { email: "Not this address." }, typed: { email: "ADA@example.com" } };
  const { user } = await open({}, { refused });
  expect(document.querySelector("details[open]")).toBeNull();
  await user.click(screen.getByText(summary, { selector: "summary" }));
  await user.type(screen.getByLabelText(label), "ADA@example.com{Enter}");
  const error = await screen.findByText("Not this address.");
  const field = screen.getByLabelText<HTMLInputElement>(label);
  expect([field.value, field.getAttribute("aria-describedby")]).toEqual(["ADA@example.com", error.id]);
  expect(document.activeElement).toBe(field);
  const opened = [...document.querySelectorAll("details[open] summary")].map(({ textContent }) => textContent);
  expect(opened).toEqual([summary]);
  expect(document.querySelectorAll("[aria-invalid]")).toHaveLength(1);
});

test("after an action the forms are closed and empty", async () => {
  const { user } = await open({}, { refused: { done: "Done." } });
  await user.click(screen.getByText("Change the email address", { selector: "summary" }));
  await user.type(screen.getByLabelText("New email address"), "new@example.com{Enter}");
  await screen.findByText("Done.");
  expect(document.querySelector("details[open]")).toBeNull();
  expect(screen.getByLabelText<HTMLInputElement>("New email address").value).toBe("");
});

test("a page of an old sign-in says before a form is filled in that a new one will be asked for", async () => {
  const hint = "You logged in more than 15 minutes ago, so we will ask you to log in again first.";
  await open({ signInAgain: true });
  expect(screen.getAllByText(hint)).toHaveLength(4);
});

test("without a password the provider cannot be disconnected, and the page says to set a password first", async () => {
  await open({ user: { ...ada, password: false } });
  expect(screen.queryByText(/^Disconnect|^Change the password/)).toBeNull();
  expect(screen.queryByLabelText("Current password")).toBeNull();
  screen.getByText("Your only way in is Google. To be able to disconnect it, set a password first.");
  expect(screen.getByRole("button", { name: "Set a password by mail" })).toBeTruthy();
});

test("an account that is not linked has no button to disconnect", async () => {
  await open({ user: { ...ada, linked: false } });
  expect(section("How you sign in").getAllByRole("listitem")).toHaveLength(1);
  expect(screen.queryByText(/^Disconnect/)).toBeNull();
});

test("with one session the only button that ends a session is the one to log out", async () => {
  await open({ sessions: [{ ...own, current: true }] });
  expect(screen.queryByRole("button", { name: /^End/ })).toBeNull();
});

test.each([
  ["status", { done: "The session has ended." }],
  ["alert", { errors: { sessionId: "The session has ended." }, typed: {} }],
])("what an action has done or refused is shown as text and has the focus: %s", async (role, refused) => {
  const { user } = await open({}, { refused });
  await user.click(screen.getByRole("button", { name: "End this session" }));
  const said = await screen.findByText("The session has ended.");
  expect(said.getAttribute("role")).toBe(role);
  expect(document.activeElement).toBe(said);
});

test("while an action is being sent only its button is busy, and no other action can be sent", async () => {
  const { posted, user } = await open({}, { refused: new Promise(() => {}) });
  const button = (name: string) => screen.getByRole("button", { name });
  await user.click(button("End this session"));
  await vi.waitFor(() => expect(button("End this session").getAttribute("aria-busy")).toBe("true"));
  for (const name of ["Log out", "End every other session", "Change the password by mail"]) {
    expect(button(name).getAttribute("aria-busy")).toBeNull();
    expect(button(name).getAttribute("aria-disabled")).toBe("true");
    await user.click(button(name));
  }
  expect(posted).toHaveBeenCalledTimes(1);
});

test("tells the browser which passkeys the account accepts, and how it is called", async () => {
  const signals = {
    signalAllAcceptedCredentials: vi.fn(async () => {}),
    signalCurrentUserDetails: vi.fn(async () => {}),
  };
  vi.stubGlobal("PublicKeyCredential", signals);
  const { account } = noPasskeys;
  const passkey = { id: "kept", name: "Phone", added: own.since, lastUsed: null, questioned: false };
  await open({ passkeys: { ...noPasskeys, items: [passkey] } });
  expect(signals.signalAllAcceptedCredentials.mock.calls).toEqual([
    [{ ...account, allAcceptedCredentialIds: ["kept"] }],
  ]);
  expect(signals.signalCurrentUserDetails.mock.calls).toEqual([
    [{ ...account, name: "ada@example.com", displayName: "Ada" }],
  ]);
});

test("signals nothing where the browser has no such function", async () => {
  vi.stubGlobal("PublicKeyCredential", {});
  await open({ passkeys: noPasskeys });
  expect(screen.getByRole("heading", { level: 1, name: "Your account" })).toBeTruthy();
});

const StrictDashboard = () => (
  <StrictMode>
    <Dashboard />
  </StrictMode>
);

test("in React's StrictMode, which runs each effect twice, the browser creates one passkey without a click", async () => {
  vi.stubGlobal("PublicKeyCredential", {
    getClientCapabilities: async () => ({ conditionalCreate: true }),
    parseCreationOptionsFromJSON: (options: unknown) => options,
  });
  vi.stubGlobal("navigator", { ...navigator, credentials: { create: async () => "made" } });
  const sent = vi.fn();
  vi.stubGlobal("fetch", async (_url: string, { body, signal }: RequestInit) => {
    signal?.throwIfAborted();
    sent(String(body));
    return Response.json({});
  });
  await open({ passkeys: { ...noPasskeys, newName: "Firefox", upgradable: true } }, {}, StrictDashboard);
  await vi.waitFor(() =>
    expect(sent.mock.calls).toEqual([["purpose=upgrade"], ["purpose=upgrade&passkey=%22made%22"]]),
  );
});

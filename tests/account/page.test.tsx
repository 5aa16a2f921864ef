import { screen, within } from "@testing-library/react";
import { StrictMode } from "react";
import { afterEach, beforeEach, describe, expect, type Mock, test, vi } from "vitest";
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
  pictureUrl: "https://pictures.example/ada.png",
  hasPassword: true,
  isLinked: true,
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
  unusable: [],
  newName: null as string | null,
  offered: false,
  upgradable: false,
  account: { rpId: "localhost", userId: "AAECAw" },
};

const open = (changed: object = {}, more: Partial<Parameters<typeof renderPage>[2]> = {}, Page = Dashboard) =>
  renderPage("/dashboard", Page, { loaded: { ...loaded, ...changed }, ...more });

afterEach(() => void vi.unstubAllGlobals());

const deletion = "Your account and everything in it will be gone. This cannot be undone.";

/** The button that opens the first form of a row. */
const summaryOf = (row: string) =>
  within(screen.getByRole("group", { name: row })).getAllByText(/./, { selector: "summary" })[0] as HTMLElement;

const section = (name: string) => within(screen.getByRole("region", { name }));

test.each([
  [true, [["/auth/session"], ["/auth/session"]]],
  [false, []],
])("a session that is unbound (%s) asks twice", async (unbound, expected) => {
  const timers = vi.spyOn(globalThis, "setTimeout");
  const asked = vi.fn(async () => new Response());
  vi.stubGlobal("fetch", asked);
  await open({ unbound });
  for (const [ask, wait] of timers.mock.calls) if (wait === 3_000 || wait === 60_000) (ask as () => void)();
  expect(asked.mock.calls).toEqual(expected);
});

test("the owner reads what to do if mails to the address do not arrive", async () => {
  await renderPage("/dashboard", Dashboard, { loaded: { ...loaded, user: { ...ada, isUndeliverable: true } } });
  const link = screen.getByRole<HTMLAnchorElement>("link", { name: "Change the address" });
  expect(link.parentElement?.textContent).toBe("Our mails to ada@example.com do not arrive. Change the address.");
  expect(link.closest(".warning")?.getAttribute("role")).toBe("status");
  const form = document.querySelector(link.hash);
  expect(form && new FormData(form as HTMLFormElement).get("intent")).toBe("change-email");
});

test("the link to the form of the address opens it and moves the focus there", async () => {
  const { user } = await renderPage("/dashboard", Dashboard, {
    loaded: { ...loaded, user: { ...ada, isUndeliverable: true } },
  });
  await user.click(screen.getByRole("link", { name: "Change the address" }));
  const field = screen.getByLabelText("New email address");
  expect([field.closest("details")?.open, document.activeElement]).toEqual([true, field]);
});

test("the account page shows the profile", async () => {
  await open();
  expect(screen.getAllByText("Ada")).toHaveLength(2);
  expect(screen.getAllByText("ada@example.com")).toHaveLength(3);
});

test("the account page shows the ways to sign in", async () => {
  await open();
  const ways = section("How you sign in").getAllByRole("listitem");
  expect(ways.map((way) => way.querySelector("p")?.textContent)).toEqual([
    "Email and passwordada@example.com",
    "GoogleConnected",
  ]);
});

test("what is in question comes first on the account page", async () => {
  const passkey = { id: "1", name: "Phone", added: own.since, used: null, backedUp: true, questioned: true };
  await open({ passkeys: { ...noPasskeys, items: [passkey] } });
  expect(screen.getAllByRole("heading", { level: 2 })[0]?.textContent).toBe("Is this yours?");
});

test("the removal of a passkey warns first, and names the passkey", async () => {
  vi.stubGlobal("PublicKeyCredential", {});
  const passkey = { id: "7", name: "Ada’s phone", added: own.since, lastUsed: null, questioned: false };
  const { posted, user } = await open({ passkeys: { ...noPasskeys, items: [passkey] } });
  await user.click(summaryOf("Ada’s phone"));
  screen.getByText("Every other session ends, and “Ada’s phone” does not sign you in any more.");
  expect(posted).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Remove the passkey" }));
  expect(posted.mock.calls).toEqual([["/dashboard", { intent: "remove-passkey", passkey: "7" }]]);
});

test("the account page names the passkey that was removed", async () => {
  await open({ notice: "passkey_removed", removedPasskey: "Ada’s phone" });
  screen.getByText("The passkey “Ada’s phone” was removed, and every other session was ended.");
});

test("the account page shows the sessions with their times", async () => {
  await open();
  const sessions = section("Where you are signed in").getAllByRole("listitem");
  expect(sessions.map((session) => session.querySelector("p")?.textContent)).toEqual([
    "Firefox on Linux · this browserSigned in 20 hours ago · Last seen now",
    "Safari on iOSSigned in 19 days ago · Last seen 18 days ago",
  ]);
  const times = [own.since, own.lastSeen, other.since, other.lastSeen].map(({ at }) => at);
  expect([...document.querySelectorAll("time")].map(({ dateTime }) => dateTime)).toEqual(times);
});

test("the account page says which session is bound to its device", async () => {
  const [firefox, safari] = loaded.sessions;
  await open({ sessions: [{ ...firefox, bound: true }, safari] });
  const sessions = section("Where you are signed in").getAllByRole("listitem");
  expect(sessions.map(({ textContent }) => /Bound to its device/.test(textContent ?? ""))).toEqual([true, false]);
});

test("without passwords no password is shown or offered", async () => {
  const user = { ...ada, hasPassword: false };
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
  await open({ user: { ...ada, hasPassword: false }, passkeys }, { content: { ...english, passwordless } });
  expect(screen.queryAllByText("Disconnect")).toHaveLength(buttons);
});

test.each([
  ["https://pictures.example/ada.png", true],
  [null, false],
])("the picture %s is shown: %s", async (pictureUrl, shown) => {
  await open({ user: { ...ada, pictureUrl } });
  expect(document.querySelector("main img") !== null).toBe(shown);
});

test.each([
  ["Ada", "A"],
  ["  ‮Éva", "É"],
  ["アダ", "ア"],
  [null, "a"],
])("without a picture the name %s is shown as the letter %s", async (name, letter) => {
  await open({ user: { ...ada, name, pictureUrl: null } });
  expect(document.querySelector(".avatar")?.textContent).toBe(letter);
});

test("the form that its owner opens has the focus", async () => {
  const { user } = await open();
  await user.click(summaryOf("Email"));
  summaryOf("Email").closest("details")?.dispatchEvent(new Event("toggle"));
  expect(document.activeElement).toBe(screen.getByLabelText("New email address"));
});

const labelsOf = (row: string) =>
  within(screen.getByRole("group", { name: row }))
    .getAllByText(/./, { selector: "summary" })
    .map(({ textContent }) => textContent);

test("the password can be removed where the provider is left", async () => {
  const { posted, user } = await open();
  const group = within(screen.getByRole("group", { name: "Email and password" }));
  await user.click(group.getByText("Remove"));
  await user.click(screen.getByRole("button", { name: "Remove the password" }));
  expect(posted.mock.calls).toEqual([["/dashboard", { intent: "remove-password" }]]);
});

test.each([
  ["is the only way in", { isLinked: false, isLinkQuestioned: false }],
  ["is the only way in beside one in question", { isLinked: true, isLinkQuestioned: true }],
])("a password that %s has no button that removes it", async (_which, ways) => {
  await open({ user: { ...loaded.user, ...ways } });
  expect(labelsOf("Email and password")).toEqual(["Change"]);
});

test("every action is a separate form", async () => {
  const { posted, user } = await open();
  const click = (name: string) => user.click(screen.getByRole("button", { name }));
  await user.click(summaryOf("Email and password"));
  await user.type(screen.getByLabelText("Current password"), "the current one");
  await user.type(screen.getByLabelText("New password"), "quiet lamps");
  await user.type(screen.getByLabelText("Password, again"), "quiet lamps");
  await click("Save the new password");
  await user.click(summaryOf("Email and password"));
  await click("Change the password by mail");
  await click("End");
  await click("End all others");
  await user.click(summaryOf("Email"));
  await user.type(screen.getByLabelText("New email address"), "new@example.com");
  await click("Send the link");
  await user.click(screen.getByText("Disconnect", { selector: "summary" }));
  await click("Disconnect Google");
  await user.click(summaryOf(deletion));
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

test("every form but that of the logout names the account of the page", async () => {
  await open({ account: "5f0c" });
  const forms = [...document.querySelectorAll<HTMLFormElement>("main form:not([action='/logout'])")];
  expect(forms.length).toBeGreaterThan(5);
  for (const form of forms) expect(new FormData(form).get("account")).toBe("5f0c");
});

const takenIdentity =
  " That Google account is already connected to another account here. To open the other account, log out, then log in with Google.";

test.each([
  [null, ""],
  ["cancelled", " It was cancelled."],
  ["takenIdentity", takenIdentity],
])("the account page says why the provider could not be connected (%s)", async (connectProblem, reason) => {
  await open({ notice: "idp_failed", connectProblem });
  const text = `Signing in with Google did not work.${reason} Nothing was changed.`;
  expect(screen.getByRole("alert").textContent).toBe(text);
});

test("who signed in to another account in another tab reads it", async () => {
  await open({ notice: "another_account" });
  screen.getByText("Another account is signed in to this browser now. Nothing was changed.");
});

test("the sections come in one order", { tags: "7.4.4" }, async () => {
  await open();
  expect(screen.getAllByRole("heading", { level: 2 }).map(({ textContent }) => textContent)).toEqual([
    "How you sign in",
    "Where you are signed in",
    "Your details",
    "Delete your account",
  ]);
});

test("the first button logs out", { tags: "7.4.4" }, async () => {
  await open();
  expect(screen.getAllByRole("button")[0]?.textContent).toBe("Log out");
});

/** The name and the purpose of each field with a purpose in the form that changes the password. */
async function passwordFields() {
  await open();
  const form = screen.getByLabelText<HTMLInputElement>("Current password").form;
  const fields = [...(form?.elements ?? [])] as HTMLInputElement[];
  return fields.map(({ name, autocomplete }) => ({ name, autocomplete })).filter(({ autocomplete }) => autocomplete);
}

test("password managers find the address beside the passwords", async () => {
  expect((await passwordFields()).map(({ autocomplete }) => autocomplete)).toEqual([
    "username",
    "current-password",
    "new-password",
    "new-password",
  ]);
});

test("the address beside the passwords is not sent", async () => {
  expect((await passwordFields()).map(({ name }) => name)).toEqual([
    "",
    "currentPassword",
    "password",
    "passwordConfirmation",
  ]);
});

describe("a wrong current password", () => {
  const errors = { currentPassword: "This is not your current password.", password: "Choose another one." };
  let error: HTMLElement;
  const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);

  beforeEach(async () => {
    const refused = { intent: "change-password", errors, typed: { email: "" } };
    const { user } = await open({}, { refused });
    await user.click(summaryOf("Email and password"));
    await user.type(field("New password"), "quiet lamps");
    await user.type(field("Password, again"), "quiet lamps");
    await user.type(field("Current password"), "wrong{Enter}");
    error = await screen.findByText(errors.currentPassword);
  });

  test("keeps the form open", () => {
    expect(error.closest("details")?.open).toBe(true);
  });

  test("has its error at its field", () => {
    expect(field("Current password").getAttribute("aria-describedby")).toContain(error.id);
  });

  test("has the focus", () => {
    expect(document.activeElement).toBe(field("Current password"));
  });

  test("is shown with the error of the new password", () => {
    expect(screen.getByText(errors.password)).toBeTruthy();
  });

  test.each(["Current password", "New password", "Password, again"])("empties the field “%s”", (label) => {
    expect(field(label).value).toBe("");
  });
});

describe.each([
  ["change-email", "Email", "New email address"],
  ["delete-account", deletion, "Type your email address to confirm"],
])("a refused %s", (intent, row, label) => {
  let field: HTMLInputElement;
  let error: HTMLElement;

  beforeEach(async () => {
    const refused = { intent, errors: { email: "Not this address." }, typed: { email: "ADA@example.com" } };
    const { user } = await open({}, { refused });
    expect(document.querySelector("details[open]")).toBeNull();
    await user.click(summaryOf(row));
    await user.type(screen.getByLabelText(label), "ADA@example.com{Enter}");
    error = await screen.findByText("Not this address.");
    field = screen.getByLabelText<HTMLInputElement>(label);
  });

  test("keeps its form alone open", () => {
    expect([...document.querySelectorAll("details[open] summary")]).toEqual([summaryOf(row)]);
  });

  test("keeps what was typed", () => {
    expect(field.value).toBe("ADA@example.com");
  });

  test("has its error at its field alone", () => {
    expect(field.getAttribute("aria-describedby")).toBe(error.id);
    expect(document.querySelectorAll("[aria-invalid]")).toHaveLength(1);
  });

  test("moves the focus to its field", () => {
    expect(document.activeElement).toBe(field);
  });
});

describe("after an action", () => {
  beforeEach(async () => {
    const { user } = await open({}, { refused: { done: "Done." } });
    await user.click(summaryOf("Email"));
    await user.type(screen.getByLabelText("New email address"), "new@example.com{Enter}");
    await screen.findByText("Done.");
  });

  test("the forms are closed", () => {
    expect(document.querySelector("details[open]")).toBeNull();
  });

  test("the form is empty", () => {
    expect(screen.getByLabelText<HTMLInputElement>("New email address").value).toBe("");
  });
});

test("a page of an old sign-in says before a form is filled in that a new one will be asked for", async () => {
  const hint = "You logged in more than 15 minutes ago, so we will ask you to log in again first.";
  await open({ signInAgain: true });
  expect(screen.getAllByText(hint)).toHaveLength(5);
});

test("without a password the provider cannot be disconnected", async () => {
  await open({ user: { ...ada, hasPassword: false } });
  expect(screen.queryByText(/^Disconnect/)).toBeNull();
});

test("without a password the page says to set one before the provider is disconnected", async () => {
  await open({ user: { ...ada, hasPassword: false } });
  screen.getByText("Your only way in is Google. To be able to disconnect it, set a password first.");
  expect(screen.getByRole("button", { name: "Set a password by mail" })).toBeTruthy();
});

test("an account without a way in is not told that the provider is one", async () => {
  await open({ user: { ...ada, hasPassword: false, isLinked: false } });
  expect(screen.queryByText(/only way in/)).toBeNull();
});

test("without a password none can be changed", async () => {
  await open({ user: { ...ada, hasPassword: false } });
  expect(within(screen.getByRole("group", { name: "Email and password" })).queryByText("Change")).toBeNull();
  expect(screen.queryByLabelText("Current password")).toBeNull();
});

test("an account that is not linked has no button to disconnect", async () => {
  await open({ user: { ...ada, isLinked: false } });
  expect(section("How you sign in").getAllByRole("listitem")).toHaveLength(1);
  expect(screen.queryByText(/^Disconnect/)).toBeNull();
});

test("with one session the only button that ends a session is the one to log out", async () => {
  await open({ sessions: [{ ...own, current: true }] });
  expect(screen.queryByRole("button", { name: /^End/ })).toBeNull();
});

describe.each([
  ["done", "status", { done: "The session has ended." }],
  ["refused", "alert", { errors: { sessionId: "The session has ended." }, typed: {} }],
])("what an action has %s", (_what, role, refused) => {
  let said: HTMLElement;

  beforeEach(async () => {
    const { user } = await open({}, { refused });
    await user.click(screen.getByRole("button", { name: "End" }));
    said = await screen.findByText("The session has ended.");
  });

  test(`is shown as ${role}`, () => {
    expect(said.getAttribute("role")).toBe(role);
  });

  test("has the focus", () => {
    expect(document.activeElement).toBe(said);
  });
});

describe("while an action is being sent", () => {
  const others = ["Log out", "End all others", "Change the password by mail"];
  const button = (name: string) => screen.getByRole("button", { name });
  let page: Awaited<ReturnType<typeof open>>;

  beforeEach(async () => {
    page = await open({}, { refused: new Promise(() => {}) });
    await page.user.click(button("End"));
    await vi.waitFor(() => expect(button("End").getAttribute("aria-busy")).toBe("true"));
  });

  test("only its button is busy", () => {
    for (const name of others) expect(button(name).getAttribute("aria-busy")).toBeNull();
  });

  test("no other action can be sent", async () => {
    for (const name of others) {
      expect(button(name).getAttribute("aria-disabled")).toBe("true");
      await page.user.click(button(name));
    }
    expect(page.posted).toHaveBeenCalledTimes(1);
  });
});

describe("tells the browser", () => {
  const { account } = noPasskeys;
  let signals: Record<"signalAllAcceptedCredentials" | "signalCurrentUserDetails", Mock>;

  beforeEach(async () => {
    signals = {
      signalAllAcceptedCredentials: vi.fn(async () => {}),
      signalCurrentUserDetails: vi.fn(async () => {}),
    };
    vi.stubGlobal("PublicKeyCredential", signals);
    const passkey = { id: "kept", name: "Phone", added: own.since, lastUsed: null, questioned: false };
    await open({ passkeys: { ...noPasskeys, items: [passkey] } });
  });

  test("which passkeys the account accepts", () => {
    expect(signals.signalAllAcceptedCredentials.mock.calls).toEqual([
      [{ ...account, allAcceptedCredentialIds: ["kept"] }],
    ]);
  });

  test("the names of the account", () => {
    expect(signals.signalCurrentUserDetails.mock.calls).toEqual([
      [{ ...account, name: "ada@example.com", displayName: "Ada" }],
    ]);
  });
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

test("in React's StrictMode the browser creates one passkey without a click", async () => {
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

import { beforeEach, expect, test } from "vitest";
import { issueLink, newLink } from "#server/accounts/links/mailed-links";
import { EmailChange, PasswordReset, Registration } from "#server/database/entities";
import { actions } from "~/account/actions";
import * as emailChange from "~/routes/account.email";
import * as passkey from "~/routes/auth.passkey";
import * as dashboard from "~/routes/dashboard";
import * as forgotPassword from "~/routes/forgot-password";
import * as language from "~/routes/language";
import * as login from "~/routes/login";
import * as logout from "~/routes/logout";
import * as register from "~/routes/register";
import * as completeRegistration from "~/routes/register_.complete";
import * as resetPassword from "~/routes/reset-password";
import { logIn, openAccount } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey(google);
const off = { PASSWORDS: "off" };

beforeEach(() => void latchkey.configure(off));

/** Every form; those of mailed links come with the fields of a valid one. */
const forms = {
  "/login": login.action,
  "/register": register.action,
  "/register/complete": completeRegistration.action,
  "/forgot-password": forgotPassword.action,
  "/reset-password": resetPassword.action,
  "/account/email": emailChange.action,
  "/auth/passkey": passkey.action,
  "/language": language.action,
  "/logout": logout.action,
  ...Object.fromEntries(Object.keys(actions).map((intent) => [`/dashboard?${intent}`, dashboard.action])),
};

/** The address has an account, which is linked to the provider; the browser has a session of it. */
type Case = Record<"known" | "linked" | "signedIn", boolean>;

let at = 0;

const state = async () => ({
  hashes: await latchkey.execute<{ row: string }>("select id || password_hash as row from users order by id"),
  browsers: await latchkey.execute("select token_hash from sessions union all select token_hash from devices"),
});

/** Posts a form with everything that it could need. @returns whether a password was set or a session or device came */
async function givesPasswordOrSession(path: string, { known, linked, signedIn }: Case) {
  const number = at++;
  const email = `user${number}@example.com`;
  const [other, moved] = [`new${number}@example.com`, `moved${number}@example.com`];
  const id = await latchkey.createUser({ email, idpId: linked ? `id ${number}` : null });
  const em = latchkey.em();
  const { token, row } = newLink(moved);
  await em.insert(EmailChange, { ...row, user: id });
  const links: Record<string, object> = {
    "/reset-password": { email, token: await issueLink(em, PasswordReset, email) },
    "/register/complete": { email: other, token: await issueLink(em, Registration, other) },
    "/account/email": { email: moved, token },
  };
  const cookie = signedIn ? await latchkey.signedIn(id) : "";
  const fields = {
    email: known ? email : other,
    currentPassword: goodPassword,
    intent: path.split("?")[1] ?? "",
    ...twice(path === "/login" ? goodPassword : newPassword),
    ...links[path],
  };
  const before = await state();
  const answer = await call(forms[path as keyof typeof forms], post(path.split("?")[0] ?? "", fields, { cookie }));
  expect(answer.status).toBeLessThan(500);
  const after = await state();
  const kept = before.hashes.map(({ row }) => row);
  return after.browsers.length > before.browsers.length || after.hashes.some(({ row }) => row && !kept.includes(row));
}

/** The forms that gave a password, a session or a device. */
async function giving(some: Case): Promise<string[]> {
  const paths: string[] = [];
  for (const path of Object.keys(forms)) if (await givesPasswordOrSession(path, some)) paths.push(path);
  return paths;
}

test.each([
  { known: true, linked: true, signedIn: true },
  { known: true, linked: false, signedIn: false },
  { known: false, linked: true, signedIn: false },
  { known: false, linked: false, signedIn: true },
])("no form gives a password or a session: %j", async (some) => {
  expect(await giving(some)).toEqual([]);
});

test("with passwords a signed-in user can change one by the same forms", async () => {
  latchkey.configure({});
  expect(await giving({ known: true, linked: true, signedIn: true })).toContain("/dashboard?change-password");
});

test("with passwords a guest gets a password or a session by the same forms", async () => {
  latchkey.configure({});
  const paths = await giving({ known: true, linked: true, signedIn: false });
  expect(paths).toEqual(["/login", "/register/complete", "/reset-password"]);
});

test("a session that a password has started goes on", async () => {
  latchkey.configure({});
  await latchkey.createUser();
  const { cookies } = await logIn();
  latchkey.configure(off);
  expect((await openAccount(`session=${cookies.session}`)).status).toBe(200);
});

test("one page replaces each page about passwords", () => {
  const pages = [register, completeRegistration, forgotPassword, resetPassword];
  expect(pages.map(({ handle }) => handle.password)).toEqual([true, true, true, true]);
});

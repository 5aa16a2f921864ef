import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { issueLink } from "#server/accounts/links/mailed-links";
import { EmailChange, PasswordReset, Registration } from "#server/database/entities";
import { intents } from "~/account/actions";
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
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";

// The seed is new in every run; fast-check prints it with the counterexample when a property fails.

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
  ...Object.fromEntries(intents.map((intent) => [`/dashboard?${intent}`, dashboard.action])),
};

const state = async () => ({
  hashes: await latchkey.execute("select id, password_hash from users where password_hash is not null order by id"),
  sessions: await latchkey.execute("select id from sessions"),
  devices: await latchkey.execute("select user_id from devices"),
});

/** Posts a form with everything that it could need. @returns whether a password was set or a session or device came */
async function givesPasswordOrSession(path: string, { known, linked, signedIn, password, number }: Case) {
  const email = `user${number}@example.com`;
  const id = await latchkey.createUser({ email, password: goodPassword, idpId: linked ? `id ${number}` : null });
  const other = `new${number}@example.com`;
  const em = latchkey.em();
  const reset = await issueLink(em, PasswordReset, email);
  const registration = await issueLink(em, Registration, other);
  const change = await issueLink(em, Registration, `moved${number}@example.com`);
  await em.execute(
    `with moved as (delete from registrations where email = ? returning *)
     insert into email_changes (token_hash, user_id, email, expires_at)
     select token_hash, ?::uuid, email, expires_at from moved`,
    [`moved${number}@example.com`, id],
  );
  expect(await em.count(EmailChange, { user: id })).toBe(1);
  const cookie = signedIn ? await latchkey.signedIn(id) : "";
  const links: Record<string, { email: string; token: string }> = {
    "/reset-password": { email, token: reset },
    "/register/complete": { email: other, token: registration },
    "/account/email": { email: `moved${number}@example.com`, token: change },
  };
  const fields = {
    email: known ? email : other,
    currentPassword: goodPassword,
    intent: path.split("?")[1] ?? "",
    ...twice(path === "/login" ? goodPassword : password),
    ...links[path],
  };
  const before = await state();
  const answer = await call(forms[path as keyof typeof forms], post(path.split("?")[0] ?? "", fields, { cookie }));
  const after = await state();
  const grown = (part: "sessions" | "devices") => after[part].length > before[part].length;
  const kept = new Set(before.hashes.map((row) => JSON.stringify(row)));
  const hashed = after.hashes.some((row) => !kept.has(JSON.stringify(row)));
  expect(answer.status).toBeLessThan(500);
  return hashed || grown("sessions") || grown("devices");
}

const someCase = fc.record({
  known: fc.boolean(),
  linked: fc.boolean(),
  signedIn: fc.boolean(),
  password: fc.constantFrom(newPassword, goodPassword, "ein ganz neues Passwort"),
});
let number = 0;
type Case = (typeof someCase extends fc.Arbitrary<infer Value> ? Value : never) & { number: number };

/** The forms that gave a password, a session or a device. */
async function giving(some: Omit<Case, "number">): Promise<string[]> {
  const paths: string[] = [];
  for (const path of Object.keys(forms))
    if (await givesPasswordOrSession(path, { ...some, number: number++ })) paths.push(path);
  return paths;
}

test("no form and no mailed link sets a password, or starts a session by one", async () => {
  await fc.assert(
    fc.asyncProperty(someCase, async (some) => {
      expect(await giving(some)).toEqual([]);
    }),
    { numRuns: 4 },
  );
});

test("with passwords, the same forms do", async () => {
  latchkey.configure({});
  const some = { known: true, linked: true, password: newPassword } as const;
  expect(await giving({ ...some, signedIn: true })).toContain("/dashboard?change-password");
  expect(await giving({ ...some, signedIn: false })).toEqual(["/login", "/register/complete", "/reset-password"]);
});

test("one page replaces each page about passwords", () => {
  const pages = [register, completeRegistration, forgotPassword, resetPassword];
  expect(pages.map(({ handle }) => handle.password)).toEqual([true, true, true, true]);
});

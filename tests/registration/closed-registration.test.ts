import { describe, expect, test } from "vitest";
import { parseAddress } from "#server/accounts/users/email-address";
import { mayRegister } from "#server/accounts/users/users";
import { deleteAccount } from "#server/features/owner/account-deletion";
import { registerUser } from "#server/features/visitor/registration";
import * as complete from "~/routes/register_.complete";
import { askForAccount } from "../support/account-calls";
import { unknownVisitor } from "../support/accounts";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { expectInvalidLink, mailSentOutcome, registrationLink } from "../support/mailed-links";
import { goodPassword, twice } from "../support/passwords";
import { call, post } from "../support/route-calls";

const latchkey = startLatchkey(google);

const settings = {
  closed: { REGISTRATION: "closed" },
  "limited to other domains": { REGISTRATION: "domains", REGISTRATION_DOMAINS: "example.org,example.net" },
};

const invalidLink = "This link is invalid or has expired.";

const finish = (fields: Record<string, string>) => call(complete.action, post("/register/complete", fields));
const users = () => latchkey.execute<{ email: string; idp_id: string | null }>("select email, idp_id from users");

const signInWith = (profile: { sub: string; email: string }) => signInWithGoogle({ ...profile, email_verified: true });

describe.each(Object.entries(settings))("registration is %s", (_how, limit) => {
  test.each(["ada@example.com", "grace@example.com"])("POST /register answers %s as every address", async (email) => {
    latchkey.configure(limit);
    await latchkey.createUser();
    expect(await askForAccount(email)).toEqual(mailSentOutcome(email));
    expect(await latchkey.jobs()).toEqual([{ task: "mail_registration", email, language: "en" }]);
  });

  test("the owner of an account is told so by mail", async () => {
    latchkey.configure(limit);
    await latchkey.createUser();
    await askForAccount("ada@example.com");
    await latchkey.drain();
    expect(latchkey.mails()).toMatchObject([{ to: "ada@example.com", subject: "You already have an account" }]);
  });

  test("an address without an account gets no link", async () => {
    latchkey.configure(limit);
    await askForAccount("grace@example.com");
    await latchkey.drain();
    expect(latchkey.mails()).toEqual([]);
    expect(await latchkey.execute("select * from registrations")).toEqual([]);
    expect(latchkey.events().at(-1)).toEqual({ event: "registration.refused", reason: "registration_closed" });
  });

  test("a link mailed before is dead for as long", { tags: "GHSA-25rw-g6ff-fmg8" }, async () => {
    const link = await registrationLink(latchkey);
    latchkey.configure(limit);
    const malformed = { email: "no address", token: link.token };
    for (const each of [link, malformed]) {
      await expectInvalidLink(latchkey, finish, each, invalidLink);
      expect((await finish({ ...each, ...twice("short") })).data).toEqual({ typed: each, invalidLink });
      expect(await registerUser(unknownVisitor, each, { passwordHash: "a hash" })).toBeNull();
    }
    latchkey.configure({});
    expect(await finish({ ...link, ...twice(goodPassword) })).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("an external sign-in without an account changes nothing", async () => {
    await registrationLink(latchkey);
    latchkey.configure(limit);
    const refused = await latchkey.unchanged(() => signInWith({ sub: "1001", email: "grace@example.com" }));
    expect(refused).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
    expect(refused.cookies).toEqual({ oauth_state: "", idp_failure: "0..closed" });
    expect(latchkey.events()).toContainEqual({ event: "idp.failed", reason: "registration_closed" });
  });

  test("an external sign-in reaches the account of its address", async () => {
    latchkey.configure(limit);
    await latchkey.createUser();
    for (const email of ["ada@example.com", "new@example.com"]) {
      expect(await signInWith({ sub: "1001", email })).toMatchObject({ status: 302, location: "/dashboard" });
    }
    expect(await users()).toEqual([{ email: "ada@example.com", idp_id: "1001" }]);
  });
});

describe("REGISTRATION_DOMAINS", () => {
  const limit = { REGISTRATION: "domains", REGISTRATION_DOMAINS: "Example.org,example.net" };

  test("an address of such a domain registers in any case", async () => {
    latchkey.configure(limit);
    const link = await registrationLink(latchkey, "Grace@EXAMPLE.org");
    expect(link.email).toBe("grace@example.org");
    expect(await finish({ ...link, ...twice(goodPassword) })).toMatchObject({ status: 302, location: "/dashboard" });
    expect(await users()).toEqual([{ email: "grace@example.org", idp_id: null }]);
  });

  test("an external sign-in creates the account of such an address", async () => {
    latchkey.configure(limit);
    expect(await signInWith({ sub: "1001", email: "Grace@Example.NET" })).toMatchObject({ location: "/dashboard" });
    expect(await users()).toEqual([{ email: "grace@example.net", idp_id: "1001" }]);
  });

  test.each([
    ["grace@example.org", true],
    ["GRACE@example.NET", true],
    ["grace@sub.example.org", false],
    ["grace@notexample.org", false],
    ["grace@example.org.evil.example", false],
    ["grace@org", false],
    ["example.org@evil.example", false],
    ["grace@evil.example@example.org", false],
    ["grace+example.org@evil.example", false],
  ])("%s may register: %s", { tags: "CVE-2026-40574" }, (typed, allowed) => {
    latchkey.configure(limit);
    const email = parseAddress(typed);
    expect(email !== null && mayRegister(email)).toBe(allowed);
  });
});

test.each([
  ["open", true],
  ["closed", false],
])("the mail after a deletion with REGISTRATION=%s offers a new account: %s", async (REGISTRATION, offered) => {
  latchkey.configure({ REGISTRATION });
  const email = "ada@example.com";
  const id = await latchkey.createUser({ email });
  await deleteAccount({ user: { id: id }, sessionId: null }, email, email);
  await latchkey.drain();
  const mail = latchkey.mails().at(-1);
  expect(mail?.subject).toBe("Your account was deleted");
  expect(mail?.text.includes("/register")).toBe(offered);
});

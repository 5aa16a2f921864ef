import { beforeEach, describe, expect, test } from "vitest";
import { newLink } from "#server/accounts/links/mailed-links";
import { EmailChange } from "#server/database/entities";
import { invite } from "#server/features/operator/invitations";
import { changeEmail } from "#server/features/owner/email-change";
import { signInToAccount } from "#server/features/visitor/external-sign-in";
import { mailRegistration, registerUser } from "#server/features/visitor/registration";
import { createUser, unknownVisitor } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";

// The embedded database has only one connection, so nothing happens at once there.

const latchkey = startLatchkey({ IDP_CLIENT_ID: "client", IDP_CLIENT_SECRET: "secret", REGISTRATION: "closed" });

const email = "grace@example.com";
const wayIn = { passwordHash: "a hash", name: "Grace" };
const profile = { id: "grace", email, emailVerified: true, name: null, pictureUrl: null };
const rounds = Array.from({ length: 10 }, (_, round) => round);

let token: string;

beforeEach(async () => {
  const link = await invite(email, { groups: ["staff"], name: null, days: 7 });
  token = new URL(link ?? "").searchParams.get("token") ?? "";
  latchkey.events();
});

const byLink = () => registerUser(unknownVisitor, { email, token }, wayIn);
const byProvider = () => signInToAccount(unknownVisitor, profile);
const accepted = () => latchkey.events().filter(({ event }) => event === "invitation.accepted");
const users = () => latchkey.execute("select email, groups from users order by email");

describe.each(rounds)("of two acceptances at once, in round %i,", () => {
  test("two posts of the link make one account", async () => {
    const outcomes = await Promise.all([byLink(), byLink()]);
    expect(outcomes.filter((done) => done !== null)).toHaveLength(1);
    expect(await users()).toEqual([{ email, groups: ["staff"] }]);
    expect(accepted()).toHaveLength(1);
  });

  test("the link and the provider make one account", async () => {
    await Promise.all([byLink(), byProvider()]);
    expect(await users()).toEqual([{ email, groups: ["staff"] }]);
    expect(accepted()).toHaveLength(1);
  });

  test("the link and a registration make one account", async () => {
    await mailRegistration(email, "en");
    const { token: own, row } = newLink(email);
    await latchkey.execute("update registrations set token_hash = ?", [row.tokenHash]);
    const outcomes = await Promise.all([byLink(), registerUser(unknownVisitor, { email, token: own }, wayIn)]);
    expect(outcomes.filter((done) => done !== null)).toHaveLength(1);
    expect(await users()).toEqual([{ email, groups: ["staff"] }]);
    expect(accepted()).toHaveLength(1);
  });

  test("the link and a change of address to it give one account the groups", async () => {
    const id = await createUser(latchkey.em());
    const { token: change, row } = newLink(email);
    await latchkey.em().insert(EmailChange, { ...row, user: id });
    const [registered, changed] = await Promise.all([byLink(), changeEmail(unknownVisitor, { email, token: change })]);
    expect([registered === null, typeof changed === "string"].filter(Boolean)).toHaveLength(1);
    const all = await users();
    expect(all.filter((user) => (user as { groups: string[] }).groups.join() === "staff")).toMatchObject([{ email }]);
    expect(accepted()).toHaveLength(1);
  });

  test("the link and a second invitation leave one of both", async () => {
    const [done, link] = await Promise.all([byLink(), invite(email, { groups: ["other"], name: null, days: 1 })]);
    expect([done === null, link === null].filter(Boolean)).toHaveLength(1);
    expect(await users()).toEqual(done ? [{ email, groups: ["staff"] }] : []);
  });
});

import nock from "nock";
import { describe, expect, test } from "vitest";
import { DatabaseUnavailable } from "#server/errors";
import { logExternalSignInFailure, signInToAccount } from "#server/features/visitor/external-sign-in";
import { providerMark } from "#server/provider/label";
import * as authorize from "~/routes/auth.idp._index";
import { logIn, openAccount, registerWith } from "../support/account-calls";
import { nothing, unknownVisitor } from "../support/accounts";
import { failureCookie } from "../support/cookies";
import { comeBack, discovers, google, googleAnswers, signInWithGoogle, state } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { registrationLink } from "../support/mailed-links";
import { newPassword } from "../support/passwords";
import { call, get, type Outcome } from "../support/route-calls";

const latchkey = startLatchkey(google);

const off = { IDP_CLIENT_ID: "", IDP_CLIENT_SECRET: "" };
const https = { facts: { origin: "https://latchkey.example" } };
const cleared = "oauth_state=; HttpOnly; Max-Age=0; Path=/auth/idp; SameSite=Lax";

const ada = {
  sub: "1001",
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  picture: "https://pictures.example/ada.png",
};

function expectSignedIn(outcome: Outcome) {
  expect(outcome).toMatchObject({ status: 302, location: "/dashboard" });
  expect(outcome.headers.getSetCookie()).toEqual([
    cleared,
    expect.stringMatching(/^session=[0-9a-f]{64}; Expires=[^;]+; HttpOnly; Path=\/; SameSite=Lax$/),
    expect.stringMatching(/^last_sign_in=provider; /),
  ]);
}

async function expectRefused(work: () => Promise<Outcome>, problem = "") {
  const refused = await latchkey.unchanged(work, "account_events");
  expect(refused).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
  expect(refused.headers.getSetCookie()).toEqual([cleared, failureCookie(problem)]);
}

const users = () => latchkey.execute<Record<string, unknown>>("select * from users order by email");

describe("GET /auth/idp", () => {
  test("is answered 400 when external sign-in is off", async () => {
    latchkey.configure(off);
    const refused = await call(authorize.loader, get("/auth/idp"));
    expect(refused).toMatchObject({ status: 400, location: null, data: "External sign-in is not configured.\n" });
    expect(refused.cookies).toEqual({});
    expect(refused.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
  });

  const start = () => latchkey.unchanged(() => call(authorize.loader, get("/auth/idp", https)));

  test("makes a new state for each request", { tags: "10.1.2" }, async () => {
    const [one, other] = [await start(), await start()];
    expect(one.cookies.oauth_state).not.toBe(other.cookies.oauth_state);
  });

  test("keeps the state in cookies that are Secure on https", { tags: "10.1.2" }, async () => {
    expect((await start()).headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^oauth_state=[0-9a-f]{64}; HttpOnly; Max-Age=600; Path=\/auth\/idp; SameSite=Lax; Secure$/,
      ),
      expect.stringMatching(/^__Host-oauth=[0-9a-f]{64}; HttpOnly; Max-Age=3600; Path=\/; SameSite=Lax; Secure$/),
      expect.stringMatching(
        /^oauth_attempt_[0-9a-f]{32}=1\.\.; HttpOnly; Max-Age=3600; Path=\/auth\/idp; SameSite=Lax; Secure$/,
      ),
    ]);
  });
});

describe("a sign-in with a verified address", () => {
  test("without an account sends no mail", async () => {
    expectSignedIn(await signInWithGoogle(ada));
    await latchkey.drain();
    expect(latchkey.mails()).toEqual([]);
  });

  test("without an account creates one with the values of the profile", async () => {
    expectSignedIn(await signInWithGoogle({ ...ada, email: " ADA@Example.com " }));
    const created = await users();
    expect(created).toEqual([
      {
        ...nothing(created[0]),
        id: expect.any(String),
        email: "ada@example.com",
        idp_id: "1001",
        idp_issuer: "google",
        idp_groups: [],
        name: "Ada Lovelace",
        picture_url: "https://pictures.example/ada.png",
        groups: [],
        created_at: expect.anything(),
      },
    ]);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });

  test("stores the configured issuer when the provider is oidc", async () => {
    const issuer = "https://sso.example";
    latchkey.configure({ IDP_PROVIDER: "oidc", IDP_ISSUER: issuer });
    discovers(issuer);
    nock(issuer).post("/token").reply(200, { access_token: "at" });
    nock(issuer).get("/me").reply(200, ada);
    expectSignedIn(await comeBack({ code: "the-code", state }));
    expect(await users()).toMatchObject([{ idp_id: "1001", idp_issuer: issuer }]);
  });

  const browsers = ["without a session", "with a session"];
  test.each(browsers)("%s finds the account by its id alone", { tags: "10.5.2" }, async (how) => {
    await signInWithGoogle(ada);
    const before = await users();
    const id = String(before[0]?.id);
    await latchkey.createUser({ email: "bob@example.com" });
    for (const changed of [
      ada,
      { email: "bob@example.com", email_verified: true },
      { email: "ada@example.com", email_verified: false },
      {},
    ]) {
      const cookie = how === "with a session" ? await latchkey.signedIn(id) : "";
      expectSignedIn(await signInWithGoogle({ sub: ada.sub, ...changed }, cookie));
    }
    expect(await users()).toMatchObject([...before, { email: "bob@example.com", idp_id: null }]);
    expect(await latchkey.execute("select distinct user_id from sessions")).toEqual([{ user_id: id }]);
  });

  test.each([
    ["gives a password account the profile's texts", null, null, "Ada Lovelace", "https://pictures.example/ada.png"],
    [
      "keeps a password account's texts",
      "Countess",
      "https://a.example/own.png",
      "Countess",
      "https://a.example/own.png",
    ],
  ])("%s when it links it", async (_what, name, picture, ...shown) => {
    const id = await latchkey.createUser();
    await latchkey.execute("update users set name = ?, picture_url = ?", [name, picture]);
    const [before] = await users();
    const outcome = await signInWithGoogle({ ...ada, email: "Ada@EXAMPLE.com" });
    expectSignedIn(outcome);
    const linked = { idp_id: "1001", idp_issuer: "google", name: shown[0], picture_url: shown[1] };
    expect(await users()).toEqual([{ ...before, id, ...linked }]);
    const { data } = await openAccount(`session=${outcome.cookies.session}`);
    expect(data.user).toMatchObject({ hasPassword: true, isLinked: true });
  });

  test("keeps a password account's password when it links it", async () => {
    await latchkey.createUser();
    expectSignedIn(await signInWithGoogle(ada));
    expect((await logIn()).status).toBe(302);
  });

  test("replaces the browser's previous session", async () => {
    const before = await latchkey.signedIn({ email: "bob@example.com" });
    expectSignedIn(await signInWithGoogle(ada, before));
    expect(await openAccount(before)).toMatchObject({ location: "/login" });
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });

  // "Pre-hijacked Accounts", USENIX Security 2022, section 3: the attacker has asked for this link.
  test("invalidates the address's registration link", { tags: "CVE-2026-53516" }, async () => {
    const link = await registrationLink(latchkey, "ada@example.com");
    await signInWithGoogle(ada);
    const late = await registerWith(link, newPassword);
    expect(late.status).toBe(422);
    expect(late.cookies).toEqual({});
    expect(await users()).toMatchObject([{ password_hash: null }]);
  });

  test("keeps the registration links of other addresses", async () => {
    await registrationLink(latchkey, "ada@example.com");
    await registrationLink(latchkey, "bob@example.com");
    await signInWithGoogle(ada);
    expect(await latchkey.execute("select email from registrations")).toEqual([{ email: "bob@example.com" }]);
  });
});

test("a sign-in that links an account mails the owner", async () => {
  await latchkey.createUser();
  expectSignedIn(await signInWithGoogle(ada));
  const questioned = { passkeys: [], provider: false };
  expect(await latchkey.jobs()).toEqual([
    { task: "mail_provider_linked", email: "ada@example.com", language: "en", questioned },
  ]);
  await latchkey.drain();
  expect(latchkey.mails()).toEqual([
    expect.objectContaining({
      to: "ada@example.com",
      subject: "Sign-in with Google was added",
      text: expect.stringMatching(/If it was not you.*\/forgot-password\n.*\/dashboard\n/s),
      link: null,
    }),
  ]);
});

test("a sign-in of a returning user mails nothing", async () => {
  await latchkey.createUser();
  expectSignedIn(await signInWithGoogle(ada));
  await latchkey.drain();
  expectSignedIn(await signInWithGoogle(ada));
  expect(await latchkey.jobs()).toEqual([]);
  expect(latchkey.mails()).toHaveLength(1);
});

test("a sign-in of a new user enqueues no mail", async () => {
  expectSignedIn(await signInWithGoogle(ada));
  expect(await latchkey.jobs()).toEqual([]);
});

test("a sign-in of a new user logs no link", async () => {
  expectSignedIn(await signInWithGoogle(ada));
  expect(latchkey.events()).toMatchObject([{ event: "idp.succeeded" }]);
});

test("a sign-in logs one link of an account", async () => {
  await latchkey.createUser();
  for (let time = 0; time < 2; time++) expectSignedIn(await signInWithGoogle(ada));
  const succeeded = "idp.succeeded";
  expect(latchkey.events().map(({ event }) => event)).toEqual(["idp.linked", succeeded, succeeded]);
});

describe("a refused callback", () => {
  const own = `oauth_state=${state}`;

  test.each<[string, Record<string, string>, string, string?]>([
    ["another state", { code: "c", state: "ef".repeat(32) }, own],
    ["a shorter state", { code: "c", state: state.slice(1) }, own],
    ["a longer state", { code: "c", state: `${state}0` }, own],
    ["a state in capitals", { code: "c", state: state.toUpperCase() }, own],
    ["no state", { code: "c" }, own],
    ["the state as an array", { code: "c", "state[]": state }, own],
    ["an empty state and an empty cookie", { code: "c", state: "" }, "oauth_state="],
    ["no cookie", { code: "c", state }, ""],
    ["a cookie of another name", { code: "c", state }, `OAUTH_STATE=${state}; %6Fauth_state=${state}`],
    ["neither state nor cookie", { code: "c" }, ""],
    ["no parameters and no cookie", {}, ""],
    ["an error of the provider", { error: "access_denied", state }, own, "cancelled"],
    ["an error beside a code", { error: "server_error", code: "c", state }, own, "noAnswer"],
    ["no code", { state }, own, ""],
    ["an empty code", { code: "", state }, own, ""],
  ])(
    "login CSRF: with %s changes nothing",
    {
      tags: ["2.3.1", "10.1.2", "10.2.1", "CVE-2025-68158", "CVE-2026-49448", "CVE-2026-81888", "GHSA-wxw3-q3m9-c3jr"],
    },
    async (_why, query, cookie, problem = "stale") => {
      const session = await latchkey.signedIn();
      googleAnswers(ada);
      await expectRefused(() => comeBack(query, `${cookie}; ${session}`), problem);
      expect(nock.pendingMocks()).toHaveLength(2);
    },
  );

  test("while external sign-in is off sends no request to the provider", async () => {
    latchkey.configure(off);
    googleAnswers(ada);
    await expectRefused(() => comeBack({ code: "c", state }), "");
    expect(nock.pendingMocks()).toHaveLength(2);
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "off" }]);
  });

  test("with an unverified address changes nothing", async () => {
    await latchkey.createUser();
    await expectRefused(() => signInWithGoogle({ ...ada, email_verified: false }), "unverified");
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "no_verified_email" }]);
  });

  test.each([
    ["malformed", { email: "ada" }],
    ["a list of two", { email: "ada@example.com, eve@example.com" }],
    ["outside ASCII", { email: "ada@examp\u212ae.com" }],
    ["with NUL", { email: "ada@example.com\0" }],
    ["overlong", { email: `${"a".repeat(64)}@${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(60)}.example.com` }],
  ])("with an address that is %s", { tags: ["CVE-2026-15611", "CVE-2026-97175"] }, async (_why, changed) => {
    await latchkey.createUser();
    await latchkey.createUser({ email: "ada@exampke.com" });
    await expectRefused(() => signInWithGoogle({ ...ada, ...changed }), "unusable");
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "unusable_email" }]);
  });

  test.each([undefined, "", " "])("with the address %j changes nothing", async (email) => {
    await latchkey.createUser();
    await expectRefused(() => signInWithGoogle({ ...ada, email }), "noEmail");
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "no_email" }]);
  });

  test("for an account that is linked to another id changes nothing", async () => {
    await latchkey.createUser({ idpId: "2002" });
    await expectRefused(() => signInWithGoogle(ada), "otherIdentity");
    expect(latchkey.events()).toEqual([{ event: "idp.failed", reason: "linked_to_another_id" }]);
  });

  test("because of a database failure is the same redirect", { tags: "16.5.3" }, async () => {
    googleAnswers(ada);
    await latchkey.withoutTable("sessions", async () => {
      const refused = await comeBack({ code: "c", state });
      expect(refused).toMatchObject({ status: 302, location: "/login?notice=idp_failed" });
      expect(refused.headers.getSetCookie()).toEqual([cleared, failureCookie("")]);
      expect(await users()).toEqual([]);
    });
  });

  test("because of a database failure adds nothing to the history", async () => {
    await signInWithGoogle(ada);
    const events = () => latchkey.execute("select * from account_events");
    const before = await events();
    googleAnswers(ada);
    await latchkey.withoutTable("sessions", () => comeBack({ code: "c", state }));
    expect(await events()).toEqual(before);
  });
});

test("any other failure is logged with the reason database or unexpected", () => {
  logExternalSignInFailure(new DatabaseUnavailable("The database is not available."));
  logExternalSignInFailure(new Error("a surprise"));
  expect(latchkey.events()).toEqual([
    { event: "idp.failed", reason: "database" },
    { event: "idp.failed", reason: "unexpected" },
  ]);
});

describe("simultaneous callbacks", () => {
  test("of one id do not fail one another", async () => {
    const profile = { id: "1001", email: "ada@example.com", emailVerified: false, name: null, pictureUrl: null };
    const outcomes = await Promise.allSettled([
      signInToAccount(unknownVisitor, profile),
      signInToAccount(unknownVisitor, { ...profile, emailVerified: true }),
    ]);
    expect(outcomes).toMatchObject([
      { status: "rejected", reason: { reason: "no_verified_email" } },
      { status: "fulfilled", value: { userId: expect.any(String) } },
    ]);
  });

  test("of forty people sign each in to the own account", { tags: "CVE-2026-33544" }, async () => {
    const people = Array.from({ length: 40 }, (_, index) => `person-${index}`);
    nock("https://oauth2.googleapis.com")
      .post("/token")
      .times(people.length)
      .reply(200, (_uri, form) => ({
        access_token: new URLSearchParams(String(form)).get("code"),
        token_type: "Bearer",
      }));
    nock("https://openidconnect.googleapis.com")
      .get("/v1/userinfo")
      .times(people.length)
      .reply(200, function () {
        const sub = String(this.req.headers.authorization).replace("Bearer ", "");
        return { sub, email: `${sub}@example.com`, email_verified: true };
      });
    const answers = await Promise.all(
      people.map((code, index) => {
        const own = index.toString(16).padStart(64, "0");
        return comeBack({ code, state: own }, `oauth_state=${own}`);
      }),
    );
    for (const [index, { cookies }] of answers.entries()) {
      const { data } = await openAccount(`session=${cookies.session}`);
      expect(data.user).toMatchObject({ email: `${people[index]}@example.com` });
    }
  });

  const rounds = [1, 2, 3, 4, 5];

  test.each(rounds)("for one new user create one account (round %i)", async () => {
    googleAnswers(ada, 2);
    const answers = await Promise.all([comeBack({ code: "a", state }), comeBack({ code: "b", state })]);
    for (const answer of answers) expectSignedIn(answer);
    expect(await users()).toHaveLength(1);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(2);
  });

  test.each(rounds)("with two ids of one new address sign one in (round %i)", async () => {
    for (const profile of [ada, { ...ada, sub: "2002" }]) googleAnswers(profile);
    const answers = await Promise.all([comeBack({ code: "a", state }), comeBack({ code: "b", state })]);
    expect(answers.map(({ location }) => location).sort()).toEqual(["/dashboard", "/login?notice=idp_failed"]);
    expect(latchkey.events()).toContainEqual({ event: "idp.failed", reason: "linked_to_another_id" });
    expect(await users()).toHaveLength(1);
    expect(await latchkey.execute("select * from sessions")).toHaveLength(1);
  });
});

test("linking by address makes the account forget every device", async () => {
  await latchkey.createUser();
  const { cookies } = await logIn();
  expectSignedIn(await signInWithGoogle(ada));
  expect(await latchkey.execute("select * from devices")).toEqual([]);
  await logIn({ cookie: `device=${cookies.device}` });
  const tasks = (await latchkey.jobs()).map((job) => (job as { task: string }).task);
  expect(tasks.filter((task) => task === "mail_new_sign_in")).toHaveLength(2);
});

test.each([
  ["Google", google],
  ["GitLab", { ...google, IDP_PROVIDER: "gitlab" }],
  ["other", { ...google, IDP_PROVIDER: "oidc", IDP_ISSUER: "https://idp.example" }],
  ["other", { IDP_CLIENT_ID: undefined, IDP_CLIENT_SECRET: undefined }],
])("the mark is %s with the settings %j", (mark, settings) => {
  latchkey.configure(settings);
  expect(providerMark()).toBe(mark);
});

import { createLocalJWKSet, jwtVerify } from "jose";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { prepareSigningKeys } from "#server/features/application/signing-keys";
import { changeGroups, suspendUser } from "#server/features/operator/user-access";
import { accessTokens, app, basic, bearer, madeToken, startVerify } from "../support/access-tokens";
import { act } from "../support/account-calls";
import { callEndpoint } from "../support/endpoint-calls";
import { identityTokens } from "../support/identity-key";
import { startLatchkey } from "../support/latchkey";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey(accessTokens);
const verify = startVerify();

let userId: string;
let session: string;
let token: string;

beforeEach(async () => {
  userId = await latchkey.createUser();
  session = await latchkey.signedIn(userId);
  token = await madeToken(session);
});

const cookie = () => `Cookie: __Host-session=${session.replace("session=", "")}`;
const other = () => `latchkey_${"A".repeat(43)}`;
const invalid = 'Bearer error="invalid_token"';
const password = 'Basic realm="login.example", charset="UTF-8"';
const cookieScheme = 'Cookie realm="Latchkey"';

const admits = { status: 200, body: "" };
const refusesToken = { status: 401, body: "", headers: { "www-authenticate": `${password}, ${invalid}` } };
/** As for a request without any credential. */
const seesNoToken = { status: 401, headers: { "www-authenticate": `${password}, ${cookieScheme}` } };

test("a changed name is told at once, to the session and to the program", async () => {
  await act(session, "change-name", { name: "Ada" });
  const told = { headers: expect.objectContaining({ "remote-name": "Ada" }) };
  expect(await verify([bearer(token)])).toMatchObject(told);
  expect(await verify([cookie()])).toMatchObject(told);
});

test("with user=email, Remote-User of a program is the address", async () => {
  expect((await verify([bearer(token)], "?tokens=on&user=email")).headers["remote-user"]).toBe("ada@example.com");
});

describe("a token is taken", () => {
  test.each([
    ["as a bearer", () => bearer(token)],
    ["as a bearer in any case", () => `aUTHORIZATION: bEARER ${token}`],
    ["as a bearer with any spacing", () => `Authorization:   Bearer \t  ${token}  `],
    ["as a password beside any user name", () => basic(token, "whoever")],
    ["as a password without a user name", () => basic(token, "")],
    ["from X-Latchkey-Token", () => `x-latchkey-token: ${token}`],
  ])("%s", async (_, header) => {
    expect(await verify([header()])).toMatchObject(admits);
  });

  test("from X-Latchkey-Token beside the application's own Authorization", async () => {
    expect(await verify([`X-Latchkey-Token: ${token}`, "Authorization: Bearer of-the-application"])).toMatchObject(
      admits,
    );
  });

  test("from Authorization beside the application's own X-Latchkey-Token", async () => {
    expect(await verify([bearer(token), "X-Latchkey-Token: of-the-application"])).toMatchObject(admits);
  });

  test("with every query that its location has", async () => {
    for (const query of ["?tokens=on&", "?&tokens=on"]) {
      expect(await verify([bearer(token)], query)).toMatchObject(admits);
    }
  });
});

test("the application gets the headers of a session", async () => {
  await latchkey.execute("update users set groups = '{staff,admins}', name = 'Ada Ł.'");
  const { headers } = await verify([bearer(token)]);
  expect(headers).toMatchObject({
    "remote-user": userId,
    "remote-email": "ada@example.com",
    "remote-name": "Ada%20%C5%81.",
    "remote-groups": "admins,staff",
  });
  expect(headers).not.toHaveProperty("remote-token");
});

test("the identity token has the token's id and no sign-in", async () => {
  latchkey.configure(identityTokens());
  await prepareSigningKeys(latchkey.em());
  const { headers } = await verify([bearer(token)]);
  const keys = createLocalJWKSet(JSON.parse(String((await callEndpoint("/.well-known/jwks.json"))?.body)));
  const { payload } = await jwtVerify(headers["remote-token"] ?? "", keys, { audience: app });
  const [{ id } = { id: "" }] = await latchkey.execute<{ id: string }>("select id from access_tokens");
  expect(payload).toMatchObject({ sub: userId, aud: app, token_id: id });
  expect(payload).not.toHaveProperty("auth_time");
  expect(payload).not.toHaveProperty("sid");
});

describe("a credential that begins latchkey_ decides alone", () => {
  test.each([
    ["an unknown token", other],
    ["a part of the token", () => token.slice(0, -1)],
    ["the token with more behind it", () => `${token}A`],
    ["the token with another one behind it", () => `${token} ${token}`],
    ["the beginning alone", () => "latchkey_"],
    ["the token in another case", () => `latchkey_${token.slice(9).toUpperCase()}`],
  ])("%s is refused beside a live session", async (_, sent) => {
    expect(await verify([bearer(sent()), cookie()])).toMatchObject({
      status: 401,
      headers: { "www-authenticate": invalid },
    });
    expect(await verify([bearer(sent())])).toMatchObject(refusesToken);
    expect(await verify([basic(sent())])).toMatchObject(refusesToken);
    expect(await verify([`X-Latchkey-Token: ${sent()}`])).toMatchObject(refusesToken);
  });

  test.each<[string, () => string[]]>([
    ["in one header line each", () => [bearer(token), `X-Latchkey-Token: ${token}`]],
    ["in two lines of Authorization", () => [bearer(token), bearer(token)]],
    ["in two lines of Authorization, the second as a password", () => [bearer(token), basic(token)]],
    [
      "behind the application's own Authorization and once more",
      () => ["Authorization: Digest a", bearer(token), `X-Latchkey-Token: ${token}`],
    ],
    ["in two lines of X-Latchkey-Token", () => [`X-Latchkey-Token: ${token}`, `X-Latchkey-Token: ${token}`]],
    ["in one line", () => [`X-Latchkey-Token: ${token}, ${token}`]],
    ["in one line of Authorization", () => [`${bearer(token)}, Bearer ${token}`]],
    ["of which one is unknown", () => [bearer(token), `X-Latchkey-Token: ${other()}`]],
  ])("two are refused: %s", async (_, lines) => {
    expect(await verify(lines())).toMatchObject(refusesToken);
  });

  test("a refusal is no redirect for a browser's navigation", async () => {
    const navigation = [
      "X-Forwarded-Uri: /",
      "Accept: text/html",
      "Sec-Fetch-Mode: navigate",
      "Sec-Fetch-Dest: document",
    ];
    expect(await verify([bearer(other()), ...navigation])).toMatchObject({ status: 401 });
    expect(await verify(navigation)).toMatchObject({ status: 302 });
  });
});

describe("the application's own credentials count as absent", () => {
  test.each([
    ["another bearer", () => bearer("of-the-application")],
    ["another password", () => basic("secret")],
    ["a password before the first colon", () => basic("x", token)],
    ["a text without a colon", () => `Authorization: Basic ${Buffer.from(token).toString("base64")}`],
    ["what follows a second colon", () => basic(`x:${token}`)],
    ["another scheme", () => `Authorization: Digest ${token}`],
    ["no scheme", () => `Authorization: ${token}`],
    ["a longer scheme", () => `Authorization: Bearers ${token}`],
    ["an empty one", () => "Authorization:"],
    ["another prefix", () => bearer(token.replace("latchkey_", "Latchkey_"))],
  ])("%s", async (_, header) => {
    expect(await verify([header()])).toMatchObject(seesNoToken);
    expect(await verify([header(), cookie()])).toMatchObject(admits);
  });
});

describe("the 401 without a credential asks for a password", () => {
  const challenge = async (lines: string[], query?: string, from?: string | null) =>
    (await verify(lines, query, from)).headers["www-authenticate"];

  test("from a program", async () => {
    expect(await challenge([])).toBe(`${password}, ${cookieScheme}`);
  });

  test("not from a browser", async () => {
    expect(await challenge(["Sec-Fetch-Mode: cors"])).toBe(cookieScheme);
  });

  test("not from whoever has a session cookie", async () => {
    expect(await challenge(["Cookie: __Host-session=ended"])).toBe(cookieScheme);
    expect(await challenge(["Cookie: __Host-session=one; __Host-session=two"])).toBe(cookieScheme);
  });

  test("not in clear", async () => {
    expect(await challenge([], "?tokens=on", "http://app.example")).toBe(cookieScheme);
  });

  test("on a loopback address", async () => {
    expect(await challenge([], "?tokens=on", "http://localhost:8080")).toBe(`${password}, ${cookieScheme}`);
  });

  test("not without tokens=on", async () => {
    expect(await challenge([], "")).toBe(cookieScheme);
  });

  test("in one header line", async () => {
    const { headers } = await verify([bearer(other())]);
    expect(headers["www-authenticate"]).toBe(`${password}, ${invalid}`);
  });
});

test("with max_age, a token is refused", async () => {
  expect(await verify([bearer(token)], "?tokens=on&max_age=600")).toMatchObject(refusesToken);
  expect(await verify([cookie()], "?tokens=on&max_age=600")).toMatchObject(admits);
});

test("a group decides as for a session, without a redirect", async () => {
  const query = "?group=staff&tokens=on";
  const navigation = ["X-Forwarded-Uri: /", "Accept: text/html"];
  expect(await verify([bearer(token), ...navigation], query)).toMatchObject({ status: 403, body: "" });
  expect(await verify([cookie(), ...navigation], query)).toMatchObject({ status: 302 });
  await changeGroups(userId, { add: ["staff"], remove: [] });
  expect(await verify([bearer(token)], query)).toMatchObject(admits);
});

describe("a token counts for its own origin alone", () => {
  test.each([
    ["another application", "https://other.example"],
    ["http", "http://app.example"],
    ["another port", "https://app.example:8443"],
    ["a host below", "https://www.app.example"],
    ["Latchkey's own origin", "https://login.example"],
  ])("not at %s", async (_, origin) => {
    expect(await verify([bearer(token)], "?tokens=on", origin)).toMatchObject({ status: 401 });
  });

  test("in the spelling of the URL Standard", async () => {
    expect(
      await verify(
        [bearer(token), "X-Forwarded-Host: APP.example:443", "X-Forwarded-Proto: https"],
        "?tokens=on",
        null,
      ),
    ).toMatchObject(admits);
  });

  test.each<[string, string[]]>([
    ["no proxy names one", []],
    ["the proxy names a malformed one", ["X-Forwarded-Host: app.example/", "X-Forwarded-Proto: https"]],
    ["the proxy names an empty one", ["X-Forwarded-Host:", "X-Forwarded-Proto: https"]],
  ])("nowhere when %s", async (_, lines) => {
    expect((await verify([bearer(token), ...lines], "?tokens=on", null)).status).toBe(401);
  });

  test("not by what a client says without a trusted proxy", async () => {
    latchkey.configure({ TRUST_PROXY: "false" });
    expect((await verify([bearer(token)])).status).toBe(401);
  });

  test("not once RETURN_ORIGINS has it no longer", async () => {
    latchkey.configure({ RETURN_ORIGINS: "https://other.example" });
    expect((await verify([bearer(token)])).status).toBe(401);
  });
});

describe("as if it were not there", () => {
  test("without tokens=on", async () => {
    const { headers, status } = await verify([bearer(token)], "");
    expect({ status, scheme: headers["www-authenticate"] }).toEqual({ status: 401, scheme: cookieScheme });
    expect(await verify([bearer(token), cookie()], "")).toMatchObject(admits);
    expect(await verify([bearer(other()), cookie()], "")).toMatchObject(admits);
  });

  test("with the setting off", async () => {
    latchkey.configure({ ACCESS_TOKENS: "off" });
    expect(await verify([bearer(token)])).toMatchObject({ status: 401, headers: { "www-authenticate": cookieScheme } });
    expect(await verify([bearer(other()), cookie()])).toMatchObject(admits);
  });

  test("in a cookie", async () => {
    for (const name of ["__Host-session", "session", "X-Latchkey-Token", "Authorization"]) {
      expect((await verify([`Cookie: ${name}=${token}`])).status).toBe(401);
    }
  });

  test("in a form", async () => {
    const form = ["Content-Type: application/x-www-form-urlencoded"];
    expect(await verify(form, "?tokens=on", app, `access_token=${token}`)).toMatchObject(seesNoToken);
  });

  test.each(["?tokens=on&token=TOKEN", "?tokens=on&access_token=TOKEN", "?TOKEN", "?tokens=TOKEN"])(
    "in a query it is a typing error: %s",
    async (query) => {
      expect((await verify([], query.replace("TOKEN", token))).status).toBe(400);
      expect(latchkey.logLines().join()).not.toContain(token);
    },
  );
});

test("a token of a suspended account is refused", async () => {
  await suspendUser(userId);
  expect(await verify([bearer(token)])).toMatchObject(refusesToken);
});

test("a stored token of a suspended account is refused", async () => {
  await latchkey.execute("update users set suspended_at = now()");
  expect(await verify([bearer(token)])).toMatchObject(refusesToken);
});

test("an expired token is refused", async () => {
  await latchkey.execute("update access_tokens set expires_at = now() - interval '1 millisecond'");
  expect(await verify([bearer(token)])).toMatchObject(refusesToken);
  expect(latchkey.events()).toContainEqual({ event: "token.refused", reason: "expired" });
});

describe("the log has a refusal", () => {
  const refused = () => latchkey.events().filter(({ event }) => event === "token.refused");

  test("once a minute for each reason", async () => {
    const minute = vi.spyOn(Date, "now");
    const at = Date.now() + 3_600_000;
    minute.mockReturnValue(at);
    for (let count = 0; count < 3; count++) {
      await verify([bearer(other())]);
      await verify([bearer(token)], "?tokens=on", "https://other.example");
    }
    expect(refused()).toEqual([
      { event: "token.refused", reason: "unknown" },
      { event: "token.refused", reason: "origin" },
    ]);
    minute.mockReturnValue(at + 60_000);
    await verify([bearer(other())]);
    expect(refused()).toHaveLength(3);
  });

  test("without the token", async () => {
    await verify([bearer(other())]);
    expect(latchkey.logLines().join()).not.toContain("latchkey_");
  });
});

describe("the database gets", () => {
  beforeEach(() => verify([bearer(token)])); // it is written that the token was used

  test("one statement for a request", async () => {
    expect(await statementsOf(() => verify([bearer(token)]))).toHaveLength(1);
  });

  test("none for what is no token", async () => {
    expect(await statementsOf(() => verify([bearer("latchkey_x")]))).toHaveLength(0);
  });

  test("the time of use once an hour", async () => {
    const used = async () =>
      (await latchkey.execute<{ at: string }>("select last_used_at::text as at from access_tokens"))[0]?.at;
    const first = await used();
    expect(first).not.toBeNull();
    await verify([bearer(token)]);
    expect(await used()).toBe(first);
    await latchkey.execute("update access_tokens set last_used_at = now() - interval '61 minutes'");
    await verify([bearer(token)]);
    expect(Date.parse((await used()) ?? "")).toBeGreaterThan(Date.now() - 60_000);
  });
});

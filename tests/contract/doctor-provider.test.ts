import nock from "nock";
import { expect, test } from "vitest";
import { checkProvider } from "#server/commands/doctor/provider";
import type { Environment } from "#server/config";
import { configure } from "../support/configure";

type Answer = [status: number, body: object];

/** What `doctor` finds at a provider with these members in its discovery document. */
function check(members: object, token: Answer, settings: Environment = {}) {
  const issuer = `https://${crypto.randomUUID()}.example`;
  const endpoints = {
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/me`,
    jwks_uri: `${issuer}/keys`,
  };
  const provider = nock(issuer);
  provider
    .get("/.well-known/openid-configuration")
    .times(2)
    .reply(200, { issuer, ...endpoints, ...members });
  provider.get("/authorize").reply(400);
  provider.get("/me").reply(401);
  provider.post("/token").reply(...token);
  const client = { IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret", IDP_PROVIDER: "oidc", IDP_ISSUER: issuer };
  return checkProvider(configure({ ...client, ...settings }));
}

const known: Answer = [400, { error: "invalid_grant" }];
const unknown: Answer = [401, { error: "invalid_client" }];
const clientAccepted = "oidc: the client id and secret are accepted";
const neither = "; back-channel logout: not supported; IDP_LOGOUT: not supported";
const accepted = { status: "ok", name: "provider", found: `${clientAccepted}${neither}` };

test.each([
  ["no claims", {}],
  ["email_verified", { claims_supported: ["sub", "email", "email_verified"] }],
  ["malformed lists", { claims_supported: "all", token_endpoint_auth_methods_supported: [1] }],
])("a discovery document with %s is accepted", async (_what, members) => {
  expect(await check(members, known)).toEqual(accepted);
});

const withoutClaim = { claims_supported: ["sub", "email", "name"] };

test("a provider without the claim email_verified is named", async () => {
  expect(await check(withoutClaim, known)).toEqual({
    status: "warn",
    name: "provider",
    found: "oidc: the provider has no claim email_verified: nobody new can sign in",
    fix: "add the claim at the provider, or set IDP_TRUST_EMAIL if it is your own",
  });
});

test("with IDP_TRUST_EMAIL a provider may be without the claim email_verified", async () => {
  expect(await check(withoutClaim, known, { IDP_TRUST_EMAIL: "true" })).toEqual({
    status: "ok",
    name: "provider",
    found: `${clientAccepted}; every address that it states counts as verified (IDP_TRUST_EMAIL)${neither}`,
  });
});

test("a provider without a key set is named: nobody can verify its back-channel logout", async () => {
  expect(await check({ jwks_uri: undefined }, known)).toEqual({
    status: "warn",
    name: "provider",
    found: "oidc: the provider has no jwks_uri: its back-channel logout cannot be verified",
    fix: "end the sessions of people who leave with `latchkey user suspend`",
  });
});

const end_session_endpoint = "https://sso.example/end";

test.each([
  ["both logouts", { backchannel_logout_supported: true, end_session_endpoint }, "supported", "supported"],
  ["its own logout", { end_session_endpoint }, "not supported", "supported"],
])("%s of a provider are named", async (_what, members, backchannel, own) => {
  const found = `${clientAccepted}; back-channel logout: ${backchannel}; IDP_LOGOUT: ${own}`;
  expect(await check(members, known, { IDP_LOGOUT: "on" })).toEqual({ ...accepted, found });
});

test("a back-channel logout that is no boolean counts as not supported", async () => {
  expect(await check({ backchannel_logout_supported: "yes" }, known)).toEqual(accepted);
});

test("IDP_LOGOUT without an endpoint is named", async () => {
  expect(await check({}, known, { IDP_LOGOUT: "on" })).toEqual({
    status: "warn",
    name: "provider",
    found: "oidc: the provider has no end_session_endpoint: IDP_LOGOUT does nothing",
    fix: "set IDP_LOGOUT=off",
  });
});

test("a refused client of a provider that takes client_secret_basic alone has that cause", async () => {
  const basic = { token_endpoint_auth_methods_supported: ["client_secret_basic"] };
  expect(await check(basic, unknown)).toEqual({
    status: "fail",
    name: "provider",
    found: "oidc: the provider takes client_secret_basic alone (invalid_client)",
    fix: "allow client_secret_post for this client",
  });
  expect(await check(basic, known)).toEqual(accepted);
  const both = { token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"] };
  expect((await check(both, unknown)).found).toBe(
    "oidc: the provider refuses the client's credentials (invalid_client)",
  );
});

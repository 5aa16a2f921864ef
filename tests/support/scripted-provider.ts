import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeEach } from "vitest";
import { listen } from "./listen";

type Reply = (response: ServerResponse) => void;

export const json =
  (value: unknown, status = 200): Reply =>
  (response) =>
    void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));

export interface Script {
  token: Reply;
  profile: Reply;
}

export type ScriptedProvider = Awaited<ReturnType<typeof startScriptedProvider>>;

export const ada = { sub: "ada-at-the-provider", email: "ada@example.com", email_verified: true, name: "Ada" };

const validAnswers: Script = {
  token: json({ access_token: "an-access-token", token_type: "Bearer" }),
  profile: json(ada),
};

export async function startScriptedProvider() {
  let script = validAnswers;
  const server = createServer(({ url }, response) => {
    if (url === "/.well-known/openid-configuration") json(discovery)(response);
    else script[url === "/token" ? "token" : "profile"](response);
  });
  const { port, stop } = await listen(server);
  const issuer = `http://localhost:${port}`;
  const discovery = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
  };
  const client = { IDP_CLIENT_ID: "latchkey", IDP_CLIENT_SECRET: "s3cret-of-the-client" };

  return {
    settings: {
      oidc: { ...client, IDP_PROVIDER: "oidc", IDP_ISSUER: issuer },
      google: {
        ...client,
        IDP_AUTHORIZE_URL: discovery.authorization_endpoint,
        IDP_TOKEN_URL: discovery.token_endpoint,
        IDP_PROFILE_URL: discovery.userinfo_endpoint,
      },
    },
    answerWith(changes: Partial<Script>) {
      script = { ...validAnswers, ...changes };
    },
    stop,
  };
}

/** {@link startScriptedProvider} for the tests of one file: reset before each test, stopped after the last. */
export async function runScriptedProvider(): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider();
  beforeEach(() => provider.answerWith({}));
  afterAll(provider.stop);
  return provider;
}

import { createServer, type ServerResponse } from "node:http";
import { afterAll, beforeEach } from "vitest";
import { listen } from "./listen";

type Reply = (response: ServerResponse) => void;

export const jsonText =
  (body: string, status = 200): Reply =>
  (response) =>
    void response.writeHead(status, { "Content-Type": "application/json" }).end(body);

export const json = (value: unknown, status?: number) => jsonText(JSON.stringify(value), status);

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
  let tokenRequests: Record<string, string>[] = [];

  const reply = (path: string | undefined, body: string): Reply => {
    if (path === "/.well-known/openid-configuration") return json(discovery);
    if (path !== "/token") return script.profile;
    tokenRequests.push(Object.fromEntries(new URLSearchParams(body)));
    return script.token;
  };

  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    reply(request.url, body)(response);
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
    issuer,
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
    tokenRequests: () => tokenRequests,
    reset() {
      script = validAnswers;
      tokenRequests = [];
    },
    stop,
  };
}

/** {@link startScriptedProvider} for the tests of one file: reset before each test, stopped after the last. */
export async function runScriptedProvider(): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider();
  beforeEach(provider.reset);
  afterAll(provider.stop);
  return provider;
}

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Reply = (response: ServerResponse) => void;

export const json =
  (value: unknown, status = 200): Reply =>
  (response) =>
    void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));

export interface Script {
  token: Reply;
  profile: Reply;
}

/** Google's endpoints on loopback, saying whatever a test has them say. */
export interface ScriptedProvider {
  settings: Record<string, string>;
  /** What is not named is answered as an honest provider would, for Ada. */
  say(script: Partial<Script>): void;
  stop(): Promise<void>;
}

export const ada = { sub: "ada-at-the-provider", email: "ada@example.com", email_verified: true, name: "Ada" };

const honest: Script = { token: json({ access_token: "an-access-token", token_type: "Bearer" }), profile: json(ada) };

export async function startScriptedProvider(): Promise<ScriptedProvider> {
  let script = honest;
  const server = createServer((request, response) => {
    request.resume();
    const reply = request.url === "/token" ? script.token : script.profile;
    request.once("end", () => reply(response));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: {
      IDP_CLIENT_ID: "latchkey",
      IDP_CLIENT_SECRET: "a-secret",
      IDP_AUTHORIZE_URL: `${url}/authorize`,
      IDP_TOKEN_URL: `${url}/token`,
      IDP_PROFILE_URL: `${url}/profile`,
    },
    say(changes) {
      script = { ...honest, ...changes };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

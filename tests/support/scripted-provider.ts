import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach } from "vitest";

export interface Script {
  /** The answer of the userinfo endpoint. */
  claims: unknown;
  /** The answer of the token endpoint. */
  token: { status: number; body: unknown };
}

const script = (): Script => ({
  claims: { sub: "sub-1", email: "ada@example.com", email_verified: true, name: "Ada", picture: null },
  token: { status: 200, body: { access_token: "at", token_type: "Bearer" } },
});

/** An OpenID provider on loopback that says whatever a test wants, truthful or not. */
export function startScriptedProvider(metadata: Record<string, unknown> = {}) {
  let current = script();
  let tokenRequests: Record<string, string>[] = [];

  const server = createServer((request, response) => {
    const answer = (body: unknown, status = 200) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      response.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    let sent = "";
    request.on("data", (chunk) => {
      sent += chunk;
    });
    request.on("end", () => {
      if (request.url === "/.well-known/openid-configuration") {
        return answer({
          issuer: issuer(),
          authorization_endpoint: `${issuer()}/authorize`,
          token_endpoint: `${issuer()}/token`,
          userinfo_endpoint: `${issuer()}/userinfo`,
          ...metadata,
        });
      }
      if (request.url === "/token") {
        tokenRequests.push(Object.fromEntries(new URLSearchParams(sent)));
        return answer(current.token.body, current.token.status);
      }
      return answer(current.claims);
    });
  });

  const issuer = () => `http://localhost:${(server.address() as AddressInfo).port}`;

  beforeAll(() => new Promise<void>((resolve) => server.listen(0, () => resolve())));
  beforeEach(() => {
    current = script();
    tokenRequests = [];
  });
  afterAll(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );

  return {
    issuer,
    settings: () => ({
      IDP_PROVIDER: "oidc",
      IDP_ISSUER: issuer(),
      IDP_CLIENT_ID: "latchkey",
      IDP_CLIENT_SECRET: "s3cret-of-the-client",
    }),
    /** Changes what the provider says until the end of the test. */
    say(changed: Partial<Script>): void {
      current = { ...current, ...changed };
    },
    /** What was posted to the token endpoint in this test. */
    tokenRequests: () => tokenRequests,
  };
}

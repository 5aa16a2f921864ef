import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type Provider from "oidc-provider";

export interface IdentityProvider {
  /** Its issuer URL. */
  url: string;
  /** The settings with which Latchkey uses it. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

const client = { id: "latchkey", secret: "a-secret-for-the-demo" };

function configuration(callbackUrl: string): ConstructorParameters<typeof Provider>[1] {
  return {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [callbackUrl],
        response_types: ["code"],
        grant_types: ["authorization_code"],
        token_endpoint_auth_method: "client_secret_post",
        backchannel_logout_uri: new URL("/auth/idp/backchannel-logout", callbackUrl).href,
        post_logout_redirect_uris: [new URL("/login?notice=signed_out", callbackUrl).href],
      },
    ],
    features: { backchannelLogout: { enabled: true } },
    // Its own dispatcher calls no loopback address.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "picture", "groups"] },
    pkce: { required: () => false },
    cookies: { keys: ["only-for-the-demo-and-the-tests"] },
    // The typed login is the user's verified address; a name without @ gets the domain example.com, in ASCII.
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        ...(!sub.startsWith("noaddress") && {
          email: sub.includes("@") ? sub : `${encodeURIComponent(sub)}@example.com`,
        }),
        email_verified: !sub.startsWith("unverified"),
        name: sub.split("@", 1)[0] ?? sub,
        groups: ["/Staff"], // as Keycloak writes it
      }),
    }),
  };
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** It warns of what is meant here: keys, tokens in memory and a login of its own; and of Node 20. */
async function createProvider(url: string, callbackUrl: string): Promise<Provider> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return new (await import("oidc-provider")).default(url, configuration(callbackUrl));
  } finally {
    console.warn = warn;
  }
}

/** `oidc-provider`, a certified OpenID Connect provider, on loopback, with Latchkey as its client. */
export async function startIdentityProvider(callbackUrl: string, port = 0): Promise<IdentityProvider> {
  const server = createServer();
  const url = `http://localhost:${await listen(server, port)}`;
  const answer = (await createProvider(url, callbackUrl)).callback();
  server.on("request", (request, response) => {
    // oidc-provider has no screen to choose an account: its login stands for it.
    request.url = request.url?.replace("prompt=select_account", "prompt=login");
    return answer(request, response);
  });
  return {
    url,
    settings: {
      IDP_PROVIDER: "oidc",
      IDP_ISSUER: url,
      IDP_CLIENT_ID: client.id,
      IDP_CLIENT_SECRET: client.secret,
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

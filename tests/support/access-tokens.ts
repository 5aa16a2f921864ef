import { identityFinders } from "#server/features/application/identity";
import * as tokens from "~/routes/account.tokens";
import { exchange } from "./raw-http";
import { call, get, post, type RequestOptions } from "./route-calls";
import { serveVerification } from "./verification";

export const app = "https://app.example";

/** With tokens for the application at `app`, behind a proxy. */
export const accessTokens = {
  ACCESS_TOKENS: "on",
  APP_URL: "https://login.example",
  RETURN_ORIGINS: `${app},https://other.example`,
  TRUST_PROXY: "1",
};

/** What the page's form posts. */
export const tokenForm = { name: "Build", origin: app, days: "90" };

export const openTokens = (cookie: string, options: RequestOptions = {}) =>
  call(tokens.loader, get("/account/tokens", { cookie, ...options }));

export const postTokens = (cookie: string, fields: Record<string, string>, options: RequestOptions = {}) =>
  call(tokens.action, post("/account/tokens", fields, { cookie, ...options }));

export const make = (cookie: string, fields: Record<string, string> = {}) =>
  postTokens(cookie, { intent: "make-token", ...tokenForm, ...fields });

export const remove = (cookie: string, token: string) => postTokens(cookie, { intent: "remove-token", token });

/** Makes a token. @returns the token itself */
export async function madeToken(cookie: string, fields: Record<string, string> = {}): Promise<string> {
  return (await make(cookie, fields)).data.made.token;
}

/** The headers of a proxy that passes on a program's request to the application at `origin`. */
const proxied = (origin = app) => [
  `X-Forwarded-Host: ${new URL(origin).host}`,
  `X-Forwarded-Proto: ${new URL(origin).protocol.replace(":", "")}`,
];

export const bearer = (token: string) => `Authorization: Bearer ${token}`;
export const basic = (token: string, user = "ada") =>
  `Authorization: Basic ${Buffer.from(`${user}:${token}`).toString("base64")}`;

export function startVerify() {
  const port = serveVerification(identityFinders());

  /** @param lines headers of the request; those of the proxy are added, unless `from` is `null` */
  return (lines: string[], query = "?tokens=on", from: string | null = app, body?: string) =>
    exchange(port(), [
      `GET /auth/verify${query} HTTP/1.1`,
      "Host: latchkey.internal",
      ...(from === null ? [] : proxied(from)),
      ...lines,
      "Connection: close",
      ...(body === undefined ? [] : [`Content-Length: ${body.length}`, "", body]),
    ]);
}

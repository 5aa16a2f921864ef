import { vi } from "vitest";
import * as externalSignIn from "#server/features/visitor/external-sign-in";
import type { Profile } from "#server/provider/providers";
import * as callback from "~/routes/auth.idp_.callback";
import { ownState } from "../support/cookies";
import { call, get, type Outcome } from "../support/route-calls";

export const code = "4/0A&b=c+d e%20f é𝄞";
const secret = "7".repeat(64);
export const state = ownState("sign_in", secret, "5".repeat(32));
export const sessionToken = "e".repeat(64);

const session = {
  token: sessionToken,
  userId: "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a",
  expiresAt: new Date("2026-12-24T12:00:00Z"),
  replacedUserIds: [],
};

const signInToAccount = () => vi.spyOn(externalSignIn, "signInToAccount");

export const profiles = (): Profile[] => signInToAccount().mock.calls.map(([_visitor, profile]) => profile);

/** Needs no database: the sign-in to the account is a mock. tests/external-sign-in tests it with a database. */
export function comeBack(
  more: [string, string][] = [],
  cookies: Record<string, string> = {},
  origin = "http://localhost:3000",
): Promise<Outcome> {
  signInToAccount().mockResolvedValue(session);
  const sent: Record<string, string> = { oauth_state: state, "__Host-oauth": secret, ...cookies };
  const answer = new URLSearchParams([["code", code], ["state", sent.oauth_state ?? ""], ...more]);
  const cookie = Object.entries(sent).map((pair) => pair.join("="));
  return call(callback.loader, get(`${origin}/auth/idp/callback?${answer}`, { cookie: cookie.join("; ") }));
}

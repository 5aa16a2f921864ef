import { readCookie, writeCookie } from "./cookies";

/** The ways to sign in. */
const ways = ["password", "provider", "passkey"] as const;

export type Way = (typeof ways)[number];

const lifetime = 365 * 24 * 3600; // seconds

const cookie = (request: Request, value: string, maxAge: number) =>
  writeCookie(request, "last_sign_in", value, { path: "/", maxAge });

/** How this browser signed in last; `null` without a cookie or with an unknown value. */
export function lastWay(request: Request): Way | null {
  const value = readCookie(request, "last_sign_in");
  return ways.find((way) => way === value) ?? null;
}

export const rememberedWay = (request: Request, way: Way): string => cookie(request, way, lifetime);

export const forgottenWay = (request: Request): string => cookie(request, "", 0);

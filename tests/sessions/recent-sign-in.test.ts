import { expect, test } from "vitest";
import type { SignedIn } from "#server/features/owner/signed-in";
import { mustSignInAgain } from "~/visitor/session";

const signedIn = (signedInAt: Date) => ({ signedInAt }) as SignedIn;

test.each([
  ["14 minutes ago", new Date(Date.now() - 14 * 60_000), false],
  ["16 minutes ago", new Date(Date.now() - 16 * 60_000), true],
  ["at a time that cannot be read because the role has another DateStyle", new Date(Number.NaN), true],
])("who signed in %s is asked again (%s): %s", (_when, at, again) => {
  expect(mustSignInAgain(signedIn(at))).toBe(again);
});

import { beforeEach, describe, expect, test } from "vitest";
import { issueLink } from "#server/accounts/mailed-links";
import { PasswordReset } from "#server/database/entities";
import { authenticate, logIn } from "#server/features/login.server";
import { resetPassword } from "#server/features/password-reset.server";
import { purgeExpired } from "#server/features/purge.server";
import * as dashboard from "~/routes/dashboard";
import { createUser, goodPassword, signedIn, unknownBrowser, unknownOrigin } from "../support/accounts";
import { startLatchkey } from "../support/latchkey";
import { recordLog } from "../support/logged";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey();
const log = recordLog();
const email = "ada@example.com";

let userId: string;
let cookie: string;

beforeEach(async () => {
  userId = await createUser(latchkey.em(), { email });
  cookie = await signedIn(latchkey.em(), userId);
});

const opens = async () => (await call(dashboard.loader, get("/dashboard", { cookie }))).status === 200;
const age = (column: string, interval: string) =>
  latchkey.execute(`update sessions set ${column} = ${column} - interval '${interval}'`);

describe("the lifetime of a session", () => {
  test("ends 14 days after the last use", async () => {
    await age("last_seen_at", "13 days 23 hours 59 minutes");
    expect(await opens()).toBe(true);
    await age("last_seen_at", "14 days 1 minute");
    expect(await opens()).toBe(false);
  });

  test("ends 30 days after the sign-in, even with use", async () => {
    await age("expires_at", "29 days 23 hours 59 minutes");
    expect(await opens()).toBe(true);
    await age("expires_at", "1 minute");
    expect(await opens()).toBe(false);
  });

  test("use extends the idle expiry, not the absolute one, and is written once an hour", async () => {
    const [before] = await latchkey.execute("select * from sessions");
    await opens();
    expect(await latchkey.execute("select * from sessions")).toEqual([before]);
    await age("last_seen_at", "61 minutes");
    await opens();
    const [after] = await latchkey.execute<{ recent: boolean; same: boolean }>(
      "select last_seen_at > now() - interval '1 minute' as recent, expires_at = ? as same from sessions",
      [(before as { expires_at: Date }).expires_at],
    );
    expect(after).toEqual({ recent: true, same: true });
  });

  test("use of one session extends no other", async () => {
    await signedIn(latchkey.em(), userId);
    await age("last_seen_at", "2 days");
    await opens();
    const recent = "select 1 from sessions where last_seen_at > now() - interval '1 minute'";
    expect(await latchkey.execute(recent)).toHaveLength(1);
  });

  test("an expired session is not listed, and is purged", async () => {
    await age("last_seen_at", "15 days");
    const other = await signedIn(latchkey.em(), userId);
    const { data } = await call(dashboard.loader, get("/dashboard", { cookie: other }));
    expect(data.sessions).toHaveLength(1);
    await purgeExpired();
    expect(await latchkey.execute("select 1 from sessions")).toHaveLength(1);
    const expired = { event: "session.ended", reason: "expired" };
    expect(log.events()).toEqual([expired]);
    await purgeExpired();
    expect(log.events()).toEqual([expired]);
  });
});

test("a login that a password reset overtakes starts no session", async () => {
  const user = await authenticate(email, goodPassword);
  expect(user).not.toBeNull();
  const token = await issueLink(latchkey.em(), PasswordReset, email);
  expect(await resetPassword({ email, token }, "an entirely new password", "en")).not.toBeNull();
  expect(user && (await logIn(user, [], unknownBrowser, unknownOrigin))).toBeNull();
  expect(await latchkey.execute("select 1 from sessions")).toEqual([]);
});

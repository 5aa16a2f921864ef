import { SqlEntityManager } from "@mikro-orm/postgresql";
import { expect, test, vi } from "vitest";
import { Session } from "#server/database/entities";
import { makeOwnToken } from "#server/features/owner/access-tokens";
import { linkProvider } from "#server/features/owner/provider-link";
import { accessTokens, tokenForm } from "../support/access-tokens";
import { owner } from "../support/accounts";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey({ ...google, ...accessTokens });

const profile = { id: "1001", email: null, emailVerified: false, name: null, pictureUrl: null };

type Ada = ReturnType<typeof owner>;

// A logout waits for no lock of the user: it can end the session between two statements of an action.
test.each([
  ["makes no token", (ada: Ada) => makeOwnToken(ada, tokenForm), "session_ended"],
  ["links no provider", (ada: Ada) => linkProvider(ada, profile).catch(({ reason }) => reason), "another_session"],
])("an owner whose session ends after it was found %s", async (_what, act, outcome) => {
  const userId = await latchkey.createUser();
  await latchkey.signedIn(userId);
  const [{ id = "" } = {}] = await latchkey.execute<{ id: string }>("select id from sessions");
  const { count } = SqlEntityManager.prototype;
  vi.spyOn(SqlEntityManager.prototype, "count").mockImplementationOnce(async function (
    this: SqlEntityManager,
    ...args
  ) {
    const found = await count.apply(this, args);
    await this.nativeDelete(Session, { id });
    return found;
  });
  expect(await act(owner(userId, id))).toBe(outcome);
});

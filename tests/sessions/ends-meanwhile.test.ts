import { SqlEntityManager } from "@mikro-orm/postgresql";
import { beforeEach, expect, test, vi } from "vitest";
import { Session } from "#server/database/entities";
import { linkProvider } from "#server/features/owner/provider-link";
import { accessTokens, make } from "../support/access-tokens";
import { act } from "../support/account-calls";
import { owner } from "../support/accounts";
import { Authenticator } from "../support/authenticator";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { ask } from "../support/passkeys";

const latchkey = startLatchkey({ ...google, ...accessTokens, APP_URL: "" });

let cookie: string;
let ada: ReturnType<typeof owner>;

beforeEach(async () => {
  const userId = await latchkey.createUser();
  cookie = await latchkey.signedIn(userId);
  const [{ id = "" } = {}] = await latchkey.execute<{ id: string }>("select id from sessions");
  ada = owner(userId, id);
});

/** Ends the session between two statements of an action, as a logout can: it takes no lock of the user. */
function endSessionWhenFound(): void {
  const { count } = SqlEntityManager.prototype;
  vi.spyOn(SqlEntityManager.prototype, "count").mockImplementation(async function (this: SqlEntityManager, ...args) {
    const found = await count.apply(this, args);
    if (args[0] === Session) await this.nativeDelete(Session, { id: ada.sessionId });
    return found;
  });
}

const loginPage = { status: 302, location: "/login", cookies: { notice: "notice%3Dsession_ended" } };

test.each([
  [
    "adding a passkey",
    async () => {
      const asked = await ask("add", { cookie });
      const passkey = new Authenticator().create(asked.options);
      return () => act(asked.cookie, "add-passkey", { passkey, name: "" });
    },
  ],
  ["removing the password", async () => () => act(cookie, "remove-password")],
  ["making a token", async () => () => make(cookie)],
])("%s leads to the login page if the session ends after it was found", async (_what, prepare) => {
  const send = await prepare();
  endSessionWhenFound();
  expect(await send()).toMatchObject(loginPage);
});

test("connecting the provider is refused if the session ends after it was found", async () => {
  const profile = { id: "1001", email: null, emailVerified: false, name: null, pictureUrl: null };
  endSessionWhenFound();
  await expect(linkProvider(ada, profile)).rejects.toMatchObject({ reason: "another_session" });
});

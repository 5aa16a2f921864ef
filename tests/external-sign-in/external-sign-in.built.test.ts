import { expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";
import { runScriptedProvider } from "../support/scripted-provider";

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc);

test("HEAD is answered 405 without a request to the provider, a cookie or a session, and the state stays valid", async () => {
  const visitor = latchkey.visit();
  const state = await visitor.leave();
  const events = await latchkey.eventsOf(async () => {
    for (const path of ["/auth/idp/callback", "/auth/idp/callback.data", "/auth/idp", "/auth/idp.data"]) {
      const head = await latchkey.send(`${path}?code=c&state=${state}`, { method: "HEAD", cookie: visitor.cookie });
      expect({ path, status: head.status }).toEqual({ path, status: 405 });
      if (!path.endsWith(".data")) expect(head.headers.get("Allow")).toBe("GET");
      expect(head).toMatchObject({ location: null, setCookies: [] });
    }
  });
  expect(events).toEqual([]);
  expect(provider.tokenRequests()).toEqual([]);
  expect((await visitor.comeBack({ code: "c", state })).location).toBe("/dashboard");
});

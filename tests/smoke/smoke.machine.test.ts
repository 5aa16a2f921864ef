import { expect, test } from "vitest";
import { runLatchkey } from "../support/running-latchkey";
import { ada, runScriptedProvider } from "../support/scripted-provider";
import { createEmptyDatabase } from "../support/server";

// Shows that a version of Node can build and run the service. `.ci/run` runs it on each version.

const provider = await runScriptedProvider();
const latchkey = runLatchkey(provider.settings.oidc, createEmptyDatabase);

test(`Node ${process.version}: a forgotten password is reset`, async () => {
  const email = "grace@example.com";
  await latchkey.register(email);
  const link = await latchkey.resetLink(email);
  const visitor = latchkey.visit();
  const reset = await visitor.reset(link, "another good password");
  expect(reset).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
  expect((await visitor.logIn(email)).status).toBe(422);
  const login = await visitor.logIn(email, "another good password");
  expect(login).toMatchObject({ status: 302, location: "/dashboard" });
});

test(`Node ${process.version}: an external sign-in redirects to the dashboard`, async () => {
  const visitor = latchkey.visit();
  expect(await visitor.signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  const page = await visitor.get("/dashboard");
  expect(page.status).toBe(200);
  expect(page.body).toContain(ada.email);
});

import { expect, onTestFinished, test } from "vitest";
import { startIdentityProvider } from "../../demo/identity-provider";
import { consent, logOutAtProvider } from "../support/consent";
import { createFixtures, type Fixture } from "../support/fixture";
import { freePort } from "../support/server";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

async function startLatchkeys(fixture: Fixture) {
  const port = await freePort();
  const APP_URL = `http://localhost:${port}`;
  const provider = await startIdentityProvider(`${APP_URL}/auth/idp/callback`);
  onTestFinished(() => provider.stop());
  const first = await fixture.server({ APP_URL, PORT: String(port), ...provider.settings });
  const others = [await fixture.server(provider.settings), await fixture.server(provider.settings)];
  const origins = [APP_URL, ...others.map(({ url }) => url)];
  const statuses = (cookie: string) =>
    Promise.all(
      origins.map(async (origin) => (await new Visitor(origin).get("/auth/verify", { Cookie: cookie })).status),
    );
  return { APP_URL, provider, first, statuses };
}

test("after a logout at the provider every process answers 401 at once", async () => {
  await using fixture = await createFixture();
  const { APP_URL, provider, first, statuses } = await startLatchkeys(fixture);
  for (let time = 0; time < 100; time++) {
    const visitor = new Visitor(APP_URL);
    const browser = new Visitor(provider.url);
    const { location } = await visitor.get("/auth/idp");
    const back = await visitor.get(await consent(location ?? "", "ada@example.com", browser));
    expect(back.location).toBe("/dashboard");
    expect(await statuses(visitor.cookie)).toEqual([200, 200, 200]);

    await logOutAtProvider(browser);
    expect(await statuses(visitor.cookie)).toEqual([401, 401, 401]);
  }
  expect(first.output()).toContain('"reason":"provider_logout"');
});

test("no sign-in that is under way when the provider reports the logout ends signed in", async () => {
  await using fixture = await createFixture();
  const { APP_URL, provider, statuses } = await startLatchkeys(fixture);
  const signedIn: string[] = [];
  let answered = 0;

  for (let time = 0; time < 150; time++) {
    const visitor = new Visitor(APP_URL);
    const browser = new Visitor(provider.url);
    const { location } = await visitor.get("/auth/idp");
    const callback = await consent(location ?? "", `person-${time % 30}@example.com`, browser);
    const [{ status }] = await Promise.all([visitor.get(callback), logOutAtProvider(browser)]);
    answered += status === 302 ? 1 : 0;
    if ((await statuses(visitor.cookie)).includes(200)) signedIn.push(callback);
  }
  expect(answered).toBe(150);
  expect(signedIn).toEqual([]);
});

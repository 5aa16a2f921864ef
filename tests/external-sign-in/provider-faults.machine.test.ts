import { expect, test } from "vitest";
import { createFixtures } from "../support/fixture";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

// tests/contract has every fault of an answer and of a connection.
test("sign-ins that wait for a provider end within six seconds, delay no other request, and work afterwards", {
  tags: "16.5.2",
}, async () => {
  await using fixture = await createFixture();
  const provider = await fixture.provider();
  const server = await fixture.server(provider.settings.google);
  provider.answerWith({ token: () => {} });
  const before = await fixture.snapshot();
  const waiting = Promise.all(Array.from({ length: 20 }, () => new Visitor(server.url).signInExternally()));
  await server.waitFor(/(?:"event":"idp.started"[\s\S]*){20}/);
  const login = await new Visitor(server.url).logIn("ada@example.com", "wrong password");
  expect(login).toMatchObject({ status: 422 });
  expect(login.milliseconds).toBeLessThan(3_000);
  for (const callback of await waiting) {
    expect(callback).toMatchObject({ status: 302, location: "/login?notice=idp_failed", body: "" });
    expect(callback.milliseconds).toBeLessThan(6_000);
  }
  expect(await fixture.snapshot()).toEqual(before);
  provider.answerWith({});
  expect(await new Visitor(server.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toContain("Unexpected error");
});

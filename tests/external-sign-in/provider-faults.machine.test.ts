import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtures, type Fixture } from "../support/fixture";
import type { Answer } from "../support/http";
import type { RunningServer } from "../support/server";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

// tests/contract has every fault of an answer and of a connection.
describe("sign-ins that wait for a provider", () => {
  let fixture: Fixture;
  let provider: Awaited<ReturnType<Fixture["provider"]>>;
  let server: RunningServer;
  let before: Record<string, unknown[]>;
  let login: Answer;
  let callbacks: Answer[];

  beforeAll(async () => {
    fixture = await createFixture();
    provider = await fixture.provider();
    server = await fixture.server(provider.settings.google);
    provider.answerWith({ token: () => {} });
    before = await fixture.snapshot();
    const waiting = Promise.all(Array.from({ length: 20 }, () => new Visitor(server.url).signInExternally()));
    await server.waitFor(/(?:"event":"idp.started"[\s\S]*){20}/);
    login = await new Visitor(server.url).logIn("ada@example.com", "wrong password");
    callbacks = await waiting;
  });

  afterAll(() => fixture[Symbol.asyncDispose]());

  test("delay no other request", { tags: "16.5.2" }, () => {
    expect(login).toMatchObject({ status: 422 });
    expect(login.milliseconds).toBeLessThan(3_000);
  });

  test("end within six seconds", { tags: "16.5.2" }, () => {
    for (const callback of callbacks) {
      expect(callback).toMatchObject({ status: 302, location: "/login?notice=idp_failed", body: "" });
      expect(callback.milliseconds).toBeLessThan(6_000);
    }
  });

  test("change nothing", async () => {
    expect(await fixture.snapshot()).toEqual(before);
  });

  test("work when the provider answers again", { tags: "16.5.2" }, async () => {
    provider.answerWith({});
    expect(await new Visitor(server.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });
  });

  test("leave a service that ends without an error", async () => {
    expect(await server.stop()).toBe(0);
    expect(server.output()).not.toContain("Unexpected error");
  });
});

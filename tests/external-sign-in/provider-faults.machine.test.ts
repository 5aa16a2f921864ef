import { expect, test } from "vitest";
import { createFixtures } from "../support/fixture";
import { json, type Script } from "../support/scripted-provider";
import { Visitor } from "../support/visitor";

const { createFixture } = createFixtures();

const failed = { status: 302, location: "/login?notice=idp_failed", body: "" };

const noAnswer = () => {};
const disconnect: Script["token"] = (response) => void response.destroy();
const truncatedAnswer: Script["token"] = (response) =>
  void response.writeHead(200, { "Content-Type": "application/json" }).write('{"access_token":');
const endless: Script["token"] = (response) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  const chunk = Buffer.alloc(65_536, " ");
  const writeMore = () => {
    while (!response.destroyed && response.write(chunk));
    response.once("drain", writeMore);
  };
  writeMore();
};

// tests/contract has every wrong answer; these are the faults of a connection.
const faults: [string, Partial<Script>][] = [
  ["does not answer at the token endpoint", { token: noAnswer }],
  ["does not answer at the profile endpoint", { profile: noAnswer }],
  ["stops in the middle of the token answer", { token: truncatedAnswer }],
  ["sends an endless answer", { token: endless }],
  ["answers 500 for the token", { token: json({ error: "server_error" }, 500) }],
  ["closes the connection", { token: disconnect }],
];

test("a provider that is slow, fails or is down: idp_failed within six seconds, no session, no change, and then a sign-in", {
  tags: "16.5.2",
}, async () => {
  await using fixture = await createFixture();
  const provider = await fixture.provider();
  const server = await fixture.server(provider.settings.google);
  await fixture.addAccount("ada@example.com");
  const before = await fixture.snapshot();

  for (const [name, script] of faults) {
    provider.answerWith(script);
    const visitor = new Visitor(server.url);
    const callback = await visitor.signInExternally();
    expect(callback, name).toMatchObject(failed);
    expect(callback.milliseconds, name).toBeLessThan(6_000);
    const kept = [...visitor.cookies.keys()].map((cookie) => cookie.replace(/_[0-9a-f]{32}$/, ""));
    expect(kept.sort(), name).toEqual(["idp_failure", "oauth_attempt"]);
    expect(await fixture.snapshot(), name).toEqual(before);
  }

  provider.answerWith({});
  expect(await new Visitor(server.url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });

  const after = await fixture.snapshot();
  await provider.stop();
  expect(await new Visitor(server.url).signInExternally()).toMatchObject(failed);
  expect(await fixture.snapshot()).toEqual(after);
  expect(await server.stop()).toBe(0);
  expect(server.output()).not.toContain("Unexpected error");
});

test("sign-ins that wait for the provider do not delay other requests", async () => {
  await using fixture = await createFixture();
  const provider = await fixture.provider();
  const server = await fixture.server(provider.settings.google);
  provider.answerWith({ token: noAnswer });
  const waiting = Promise.all(Array.from({ length: 20 }, () => new Visitor(server.url).signInExternally()));
  await server.waitFor(/(?:"event":"idp.started"[\s\S]*){20}/);
  const login = await new Visitor(server.url).logIn("ada@example.com", "wrong password");
  expect(login).toMatchObject({ status: 422 });
  expect(login.milliseconds).toBeLessThan(3_000);
  for (const callback of await waiting) expect(callback).toMatchObject(failed);
});

import { expect, test } from "vitest";
import { signInExternally } from "../support/external-sign-in";
import { ada, json, type Script } from "../support/scripted-provider";
import { Visitor } from "../support/visitor";
import { stageFaults } from "./stage";

const { stage } = stageFaults();

const failed = { status: 302, location: "/login?notice=idp_failed", body: "" };

const silence = () => {};
const page: Script["token"] = (response) => void response.writeHead(200, { "Content-Type": "text/html" }).end("<p>Hi");
const hangUp: Script["token"] = (response) => void response.destroy();
const halfAnAnswer: Script["token"] = (response) =>
  void response.writeHead(200, { "Content-Type": "application/json" }).write('{"access_token":');
const elsewhere: Script["token"] = (response) => void response.writeHead(302, { Location: "/profile" }).end();
const endless: Script["token"] = (response) => {
  response.writeHead(200, { "Content-Type": "application/json" });
  const chunk = Buffer.alloc(65_536, " ");
  const pour = () => {
    while (!response.destroyed && response.write(chunk));
    response.once("drain", pour);
  };
  pour();
};

const faults: [string, Partial<Script>][] = [
  ["is silent at the token endpoint", { token: silence }],
  ["is silent at the profile endpoint", { profile: silence }],
  ["stops in the middle of the token", { token: halfAnAnswer }],
  ["pours an endless answer", { token: endless }],
  ["answers 500 for the token", { token: json({ error: "server_error" }, 500) }],
  ["answers 500 for the profile", { profile: json({}, 500) }],
  ["answers with a page", { token: page }],
  ["answers the profile with a page", { profile: page }],
  ["redirects the token request", { token: elsewhere }],
  ["ends the connection", { token: hangUp }],
  ["answers an error with status 200", { token: json({ error: "bad_verification_code" }) }],
  ["gives an empty token", { token: json({ access_token: "" }) }],
  ["gives a token with a line break", { token: json({ access_token: "a\r\nX: y" }) }],
  ["gives a token of another type", { token: json({ access_token: "a", token_type: "mac" }) }],
  ["gives a profile without an id", { profile: json({ ...ada, sub: undefined }) }],
  ["gives a profile that is a list", { profile: json([ada]) }],
  ["does not vouch for the address", { profile: json({ ...ada, email_verified: false }) }],
  ["vouches for the address in words", { profile: json({ ...ada, email_verified: "true" }) }],
  ["gives an address outside ASCII", { profile: json({ ...ada, email: "\u212aate@example.com" }) }],
  ["gives no address", { profile: json({ ...ada, email: null }) }],
];

test("a provider that is slow, lies or is down: idp_failed within six seconds, no session, nothing changed", async () => {
  await using scene = await stage();
  const provider = await scene.provider();
  const server = await scene.server(provider.settings.google);
  await scene.addAccount("ada@example.com");
  const before = await scene.snapshot();

  for (const [name, script] of faults) {
    provider.say(script);
    const visitor = new Visitor(server.url);
    const callback = await signInExternally(visitor);
    expect(callback, name).toMatchObject(failed);
    expect(callback.milliseconds, name).toBeLessThan(6_000);
    expect([...visitor.cookies], name).toEqual([]);
    expect(await scene.snapshot(), name).toEqual(before);
  }

  await provider.stop();
  expect(await signInExternally(new Visitor(server.url))).toMatchObject(failed);
  expect(await scene.snapshot()).toEqual(before);
  expect(server.output()).not.toContain("Unexpected error");
});

test("a provider that is back after a fault signs in at once", async () => {
  await using scene = await stage();
  const provider = await scene.provider();
  const server = await scene.server(provider.settings.google);
  provider.say({ token: hangUp });
  expect(await signInExternally(new Visitor(server.url))).toMatchObject(failed);
  provider.say({});
  expect(await signInExternally(new Visitor(server.url))).toMatchObject({ status: 302, location: "/dashboard" });
});

test("a silent provider holds up nobody else", async () => {
  await using scene = await stage();
  const provider = await scene.provider();
  const server = await scene.server(provider.settings.google);
  provider.say({ token: silence });
  const stuck = Promise.all(Array.from({ length: 20 }, () => signInExternally(new Visitor(server.url))));
  await server.waitFor(/(?:"event":"idp.started"[\s\S]*){20}/);
  const login = await new Visitor(server.url).post("/login", { email: "ada@example.com", password: "wrong password" });
  expect(login).toMatchObject({ status: 422 });
  expect(login.milliseconds).toBeLessThan(3_000);
  for (const callback of await stuck) expect(callback).toMatchObject(failed);
});

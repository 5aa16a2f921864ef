import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { openFrontDoor } from "#server/door/front-door";
import { currentRequest } from "#server/process/context";
import { configure } from "../support/configure";
import { listen } from "../support/listen";
import { exchange } from "../support/raw-http";

async function originSeen(): Promise<string> {
  const server = createServer((_request, response) => response.end(currentRequest()?.origin ?? "none"));
  const { port, stop } = await listen(server);
  onTestFinished(stop);
  const { body } = await exchange(port, ["GET / HTTP/1.1", "Host: login.example", "Connection: close"]);
  return body.includes("http://login.example") ? "http://login.example" : "none";
}

const lookups = {
  findUser: async () => null,
  findProgram: async () => null,
  endpointOf: () => undefined,
  routeOf: () => "none",
};

test("the front door takes the next server that listens", async () => {
  openFrontDoor(configure({}), lookups);
  expect(await originSeen()).toBe("http://login.example");
});

test("the front door takes no second server", async () => {
  openFrontDoor(configure({}), lookups);
  await originSeen();
  expect(await originSeen()).toBe("none");
});

test("a front door that is closed takes no server", async () => {
  await openFrontDoor(configure({}), lookups).close();
  expect(await originSeen()).toBe("none");
});

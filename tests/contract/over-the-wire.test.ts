import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { beforeEach, expect, test, vi } from "vitest";
import * as z from "zod";
import { callJson } from "#server/calls/json-client";
import type { CallError } from "#server/errors";
import { exchangeCode } from "#server/provider/client";
import { configure } from "../support/configure";
import { listen } from "../support/listen";

// nock shows neither the headers that Node adds nor when the connection is closed.

let server: Server;
let url: string;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, response) => answer(request, response));
  const { port, stop } = await listen(server);
  url = `http://127.0.0.1:${port}`;
  return stop;
});

const ask = () => callJson(url, { method: "GET" }, z.object({ ok: z.boolean() }));
const failure = (call: Promise<unknown>) => call.then(String, (error: CallError) => error.message);

test("the token request has exactly the expected headers", async () => {
  let raw: string[] = [];
  let body = "";
  answer = async (request, response) => {
    raw = request.rawHeaders;
    body = await text(request);
    response.end('{"access_token":"a"}');
  };
  configure({ IDP_CLIENT_ID: "ü", IDP_CLIENT_SECRET: "&", IDP_TOKEN_URL: url });
  const sent = { code: "c+d", redirectUri: "http://localhost/cb", codeVerifier: "" };
  expect(await exchangeCode(sent)).toBe("a");

  const headers = Object.fromEntries(raw.flatMap((name, i) => (i % 2 ? [] : [[name.toLowerCase(), raw[i + 1]]])));
  expect(headers).toEqual({
    accept: "application/json",
    "accept-encoding": expect.any(String),
    "accept-language": "*",
    connection: "keep-alive",
    "content-length": String(body.length),
    "content-type": "application/x-www-form-urlencoded",
    host: new URL(url).host,
    "sec-fetch-mode": "cors",
    "user-agent": "node",
  });
  expect(raw).toHaveLength(2 * Object.keys(headers).length);
  expect(body).toBe(
    "code=c%2Bd&client_id=%C3%BC&client_secret=%26&redirect_uri=http%3A%2F%2Flocalhost%2Fcb&grant_type=authorization_code",
  );
});

async function open() {
  answer = () => {};
  const requested = once(server, "request");
  const outcome = failure(ask());
  const [, response]: ServerResponse[] = await requested;
  return { outcome, response: response!, closed: once(response!, "close") };
}

test.each([
  [200, "too_large"],
  [500, "status 500"],
])("the client closes the connection of an endless answer with status %i", async (status, reason) => {
  const { outcome, response, closed } = await open();
  const more = () => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536, " ")));
  };
  response.writeHead(status).on("drain", more);
  more();
  expect(await outcome).toBe(reason);
  await closed;
});

test("the size limit of a gzip answer applies to the decoded body", async () => {
  const packed = (size: number) => gzipSync('{"ok":true}'.padEnd(size));
  let size = 1_048_576;
  answer = (_request, response) => response.writeHead(200, { "content-encoding": "gzip" }).end(packed(size));
  expect(await ask()).toEqual({ ok: true });
  size += 1;
  expect(packed(size).length).toBeLessThan(2_000);
  expect(await failure(ask())).toBe("too_large");
});

const places = ["before the headers", "in the middle of the body"];

test.each(places)("a stall %s ends at the deadline after a garbage collection", async (where) => {
  setFlagsFromString("--expose-gc");
  const collectGarbage: () => void = runInNewContext("gc");
  const deadline = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(deadline.signal);
  const fetch = vi.spyOn(globalThis, "fetch");
  const { outcome, response, closed } = await open();
  if (where === "in the middle of the body") {
    response.write('{"ok":');
    await fetch.mock.results[0]?.value;
  }
  fetch.mockRestore();
  for (let round = 0; round < 3; round++) {
    await new Promise(setImmediate);
    collectGarbage();
  }
  deadline.abort();
  expect(await outcome).toBe("timeout");
  expect(timeout).toHaveBeenCalledWith(5000);
  await closed;
});

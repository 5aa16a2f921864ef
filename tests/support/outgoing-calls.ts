import { Readable } from "node:stream";
import nock, { type ReplyBody } from "nock";
import { beforeEach, vi } from "vitest";

interface OutgoingCall {
  method: string;
  url: string;
  headers: Record<string, unknown>;
  body: string;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Where the answer stops. The call's deadline then passes at once. */
  stall?: "before the headers" | "in the middle of the body";
  broken?: true;
}

/**
 * Answers outgoing calls, each answer once, and records every call, the unexpected too. No call waits for its deadline:
 * the requested deadline is recorded, and passes at once when an answer stalls.
 */
export function recordOutgoingCalls() {
  const calls: OutgoingCall[] = [];
  const deadlines: { milliseconds: number; pass(): void }[] = [];
  const pass = () => deadlines.at(-1)?.pass();

  beforeEach(() => {
    calls.length = 0;
    deadlines.length = 0;
    vi.spyOn(AbortSignal, "timeout").mockImplementation((milliseconds) => {
      const deadline = new AbortController();
      deadlines.push({ milliseconds, pass: () => deadline.abort(new DOMException("", "TimeoutError")) });
      return deadline.signal;
    });
    nock.emitter.removeAllListeners("no match");
    nock.emitter.on("no match", ({ method, path, host }) => {
      calls.push({ method, url: `unexpected: ${host}${path}`, headers: {}, body: "" });
    });
  });

  function stallBody(url: string, body: string | Buffer): Readable {
    const fetch = globalThis.fetch;
    const spy = vi.spyOn(globalThis, "fetch").mockImplementation(async (...request) => {
      const response = await fetch(...request);
      if (response.url !== url) return response;
      setImmediate(pass);
      spy.mockRestore();
      return response;
    });
    const half = new Readable({ read() {} });
    half.push(body.slice(0, body.length / 2));
    return half;
  }

  function answer(method: string, url: string, { status = 200, headers = {}, body = "", stall, broken }: Answer) {
    const { origin, pathname, search } = new URL(url);
    const scope = nock(origin);
    scope.on("request", (request, _interceptor, sent: string) => {
      calls.push({ method: request.method, url: `${origin}${request.path}`, headers: request.headers, body: sent });
    });
    const interceptor = scope.intercept(`${pathname}${search}`, method);
    if (broken) return interceptor.replyWithError("socket hang up");
    if (stall === "before the headers") {
      return interceptor.reply((_uri, _body, _never: (error: null, reply: [number, ReplyBody]) => void) => pass());
    }
    const half = stall && stallBody(url, body);
    interceptor.reply(status, half ? () => half : body, headers);
  }

  return {
    answer,
    calls: () => calls,
    addresses: () => calls.map(({ method, url }) => `${method} ${url}`),
    /** The deadline of each call, in milliseconds. */
    deadlines: () => deadlines.map(({ milliseconds }) => milliseconds),
  };
}

import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import ipaddr from "ipaddr.js";
import { describe, expect, test, vi } from "vitest";
import { loadConfig } from "#server/config";
import { clientOf, connectionUrl } from "#server/door/forwarded";

const proxyAddress = "10.0.0.9";

const requestWith = (headers: IncomingHttpHeaders) =>
  ({ headers: { host: "inner.example", ...headers }, socket: { remoteAddress: proxyAddress } }) as IncomingMessage;

const client = (forwardedFor: string | undefined, TRUST_PROXY: string) =>
  clientOf(requestWith({ "x-forwarded-for": forwardedFor }), loadConfig({ TRUST_PROXY })).client;

describe("the client's address", () => {
  test.each([
    ["no proxy", "false", "198.51.100.7", proxyAddress],
    ["one proxy", "true", "203.0.113.5", "203.0.113.5"],
    ["one proxy, and a client that claims another address", "1", "198.51.100.7, 203.0.113.5", "203.0.113.5"],
    ["two proxies, and a client that claims an address", "2", "198.51.100.7, 203.0.113.5, 192.0.2.1", "203.0.113.5"],
    ["fewer values than proxies", "3", "203.0.113.5, 192.0.2.1", "203.0.113.5"],
    ["a port", "1", "203.0.113.5:5555", "203.0.113.5"],
    ["an IPv6 address with a port", "1", "[2001:db8:1:2::7]:443", "2001:db8:1:2::"],
    ["an IPv6 address with a zone", "1", "fe80::1%eth0", "fe80::"],
    ["a zone alone", "1", "%br-lan", proxyAddress],
    ["an IPv4 address in IPv6", "1", "::ffff:203.0.113.5", "203.0.113.5"],
    ["no header", "2", undefined, proxyAddress],
    ["no address", "1", "unknown", proxyAddress],
    ["an unclosed bracket", "1", "[2001:db8::1", proxyAddress],
    ["a peer in the list", "10.0.0.0/8", "203.0.113.5", "203.0.113.5"],
    ["a peer that is not in the list", "127.0.0.1, ::1, 10.1.0.0/16", "203.0.113.5", proxyAddress],
    ["proxies of the list in the header", "10.0.0.0/8", "198.51.100.7, 203.0.113.5, 10.1.2.3", "203.0.113.5"],
    ["every value in the list", "10.0.0.0/8", "10.3.0.1, 10.2.0.1", "10.3.0.1"],
    ["no address behind a proxy of the list", "10.0.0.0/8", "203.0.113.5, unknown, 10.1.2.3", "10.1.2.3"],
    ["no address at the right", "10.0.0.0/8", "203.0.113.5, unknown", proxyAddress],
    ["no header from a peer in the list", "10.0.0.0/8", undefined, proxyAddress],
    ["other spellings", "::ffff:10.0.0.9", "203.0.113.5, [::ffff:10.0.0.9]:80", "203.0.113.5"],
    ["a network of IPv6", "10.0.0.9, 2001:db8::/32", "203.0.113.5, 2001:db8:7::1", "203.0.113.5"],
  ])(
    "%s (TRUST_PROXY=%s)",
    { tags: ["4.1.3", "15.3.4", "GHSA-46wh-pxpv-q5gq"] },
    (_what, trusted, header, expected) => {
      expect(client(header, trusted)).toBe(expected);
    },
  );

  test.each(["fe80::1%br-lan", "fe80::1%eth0", "fe80::1"])("the connection of %s", (remoteAddress) => {
    const request = { headers: {}, socket: { remoteAddress } } as IncomingMessage;
    expect(clientOf(request, loadConfig({}))).toEqual({ client: "fe80::", clientForwarded: false });
  });
});

test("8 kB of commas cost a request little", () => {
  const start = process.cpuUsage();
  for (let count = 0; count < 1_000; count++) client(",".repeat(8_000), "10.0.0.0/8");
  const { user, system } = process.cpuUsage(start); // µs; with each value read, it took twelve seconds
  expect(user + system).toBeLessThan(1_000_000);
});

test("the proxies of a request are looked up once for all its forwarded headers", () => {
  const parse = vi.spyOn(ipaddr, "process");
  const config = loadConfig({ TRUST_PROXY: "10.0.0.0/8" });
  parse.mockClear();
  const forwarded = { "x-forwarded-for": "203.0.113.5, 10.1.2.3, 10.1.2.4", "x-forwarded-proto": "https" };
  const request = requestWith(forwarded);
  expect(connectionUrl(request, undefined, config).origin).toBe("https://inner.example");
  expect(clientOf(request, config).client).toBe("203.0.113.5");
  expect(parse.mock.calls.flat()).toEqual([proxyAddress, "10.1.2.4", "10.1.2.3", "203.0.113.5"]);
});

const origin = (proto: string, host: string, TRUST_PROXY: string) =>
  connectionUrl(
    requestWith({ "x-forwarded-proto": proto, "x-forwarded-host": host }),
    undefined,
    loadConfig({ TRUST_PROXY }),
  ).origin;

test.each([
  ["no trusted proxy", "https", "front.example", "false", "http://inner.example"],
  ["one proxy", "http, https", "evil.example, front.example", "true", "https://front.example"],
  ["a peer in the list", "http, https", "evil.example, front.example", "10.0.0.0/8", "https://front.example"],
  ["a peer that is not in the list", "https", "front.example", "127.0.0.1", "http://inner.example"],
  ["Traefik, for a WebSocket", "wss", "front.example", "1", "https://front.example"],
  ["a proxy, for a WebSocket without TLS", "ws", "front.example", "1", "http://front.example"],
  ["a proxy that writes capitals", "HTTPS", "front.example", "1", "https://front.example"],
  ["two proxies that append", "https, http", "front.example, inner.example", "2", "https://front.example"],
  ["two proxies that append", "http, https, http", "evil.example, front.example, b", "2", "https://front.example"],
  ["two proxies that replace", "https", "front.example", "2", "https://front.example"],
])("the public origin behind %s: %s of %s (TRUST_PROXY=%s)", (_what, proto, host, trusted, expected) => {
  expect(origin(proto, host, trusted)).toBe(expected);
});

import { randomBytes } from "node:crypto";
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import { forgedClient } from "../../features/operator/probe";

const maxBody = 1_048_576; // bytes
const timeLimit = 10_000; // ms
const maxAddresses = 8;

export interface ProbedResponse {
  status: number;
  location: string | undefined;
  /** The values of each header, by its lower-case name. */
  headers: Record<string, string[]>;
  body: string;
  certificate: { from: Date; until: Date } | null;
}

/** Why there is no answer: Node's code, or `timeout`. */
export const codeOf = (error: unknown): string => {
  const { name, code, message } = error as NodeJS.ErrnoException;
  return name === "AbortError" || name === "TimeoutError" ? "timeout" : (code ?? message);
};

/** A random query keeps caches out. */
export const probeUrl = (origin: string) => `${origin}/auth/probe?${randomBytes(8).toString("hex")}`;

/** Headers of a proxy that is not there: another client, host and scheme. */
export const forwardedByNobody = (origin: string) => ({
  "X-Forwarded-For": forgedClient,
  "X-Forwarded-Host": "forged.invalid",
  "X-Forwarded-Proto": origin.startsWith("https:") ? "http" : "https",
});

/** @throws Error with the code of the resolver */
export async function addressesOf(origin: string): Promise<LookupAddress[]> {
  const host = new URL(origin).hostname.replace(/^\[(.+)\]$/, "$1");
  if (isIP(host)) return [{ address: host, family: isIP(host) }];
  return (await lookup(host, { all: true })).slice(0, maxAddresses);
}

/**
 * Asks the address as a stranger's browser. `fetch` would set `Sec-Fetch-Mode` itself, and shows no certificate.
 * Follows no redirect. @throws Error without an answer
 */
export function ask(url: string, at: LookupAddress, headers: Record<string, string> = {}): Promise<ProbedResponse> {
  const lookup: LookupFunction = (_host, { all }, done) => (all ? done(null, [at]) : done(null, at.address, at.family));
  const isHttps = url.startsWith("https:");
  const options = { agent: false, headers, lookup, signal: AbortSignal.timeout(timeLimit) };
  return new Promise((resolve, reject) => {
    const request = (isHttps ? https : http).get(url, options, async (response) => {
      const peer = isHttps ? (response.socket as TLSSocket).getPeerCertificate() : null;
      const certificate = peer && { from: new Date(peer.valid_from), until: new Date(peer.valid_to) };
      let body = "";
      try {
        for await (const chunk of response.setEncoding("utf8")) {
          body += chunk;
          if (body.length > maxBody) throw new Error("more than 1 MiB");
        }
      } catch (error) {
        return reject(error);
      }
      const { statusCode: status = 0, headersDistinct } = response;
      const headers = headersDistinct as Record<string, string[]>;
      resolve({ status, location: response.headers.location, headers, body, certificate });
    });
    request.on("error", reject);
  });
}

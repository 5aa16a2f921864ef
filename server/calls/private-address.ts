import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { isLoopback } from "../settings/forms";
import { CallError } from "./json-client";

const refused = ["private", "loopback", "linkLocal", "uniqueLocal", "carrierGradeNat", "unspecified"];

/** @throws CallError for a host name with a private or loopback address. An address in the URL itself is allowed. */
export async function refusePrivateAddress(url: string): Promise<void> {
  const host = new URL(url).hostname.replace(/^\[(.+)\]$/, "$1");
  if (isIP(host) || isLoopback(host)) return;
  const addresses = await lookup(host, { all: true }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CallError("unreachable", code);
  });
  if (addresses.some(({ address }) => refused.includes(ipaddr.process(address).range()))) {
    throw new CallError("private_address");
  }
}

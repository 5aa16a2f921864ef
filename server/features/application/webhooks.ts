import dns from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { Webhook } from "standardwebhooks";
import { callText } from "../../calls/json-client";
import { config } from "../../config";
import { CallError } from "../../errors";
import type { AccountChange, ChangedUser, JobHandler, WebhookJob } from "../../queue/jobs";
import { isLoopback } from "../../settings/formats";

const privateRanges = ["private", "loopback", "linkLocal", "uniqueLocal", "carrierGradeNat", "unspecified"];

/** @throws CallError for a host name with a private or loopback address. An address in the URL itself is allowed. */
async function refusePrivateAddress(url: string): Promise<void> {
  const host = new URL(url).hostname.replace(/^\[(.+)\]$/, "$1");
  if (isIP(host) || isLoopback(host)) return;
  const addresses = await dns.lookup(host, { all: true }).catch(({ code }: NodeJS.ErrnoException) => {
    throw new CallError("unreachable", code);
  });
  if (addresses.some(({ address }) => privateRanges.includes(ipaddr.process(address).range()))) {
    throw new CallError("private_address");
  }
}

/** Standard Webhooks 1.0, "Payload structure". */
export type WebhookPayload =
  | { type: AccountChange; timestamp: string; data: ChangedUser }
  | { type: "latchkey.test"; timestamp: string; data: Record<string, never> };

/**
 * Standard Webhooks 1.0, "Webhook headers": each attempt has the same id and its own time.
 * @throws CallError
 */
export async function sendWebhook(id: string, payload: WebhookPayload): Promise<void> {
  const { webhook } = config();
  if (!webhook) throw new Error("WEBHOOK_URL is not set.");
  await refusePrivateAddress(webhook.url);
  const body = JSON.stringify(payload);
  const now = new Date();
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(webhook.secret).sign(id, now, body),
  };
  await callText(webhook.url, { method: "POST", headers, body });
}

export const handleWebhook: JobHandler<WebhookJob> = async ({ type, data }, { id, at }) => {
  return () => sendWebhook(id, { type, timestamp: at.toISOString(), data });
};

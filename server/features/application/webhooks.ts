import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { isIP, type Socket } from "node:net";
import ipaddr from "ipaddr.js";
import { Webhook } from "standardwebhooks";
import { callText } from "../../calls/json-client";
import { config } from "../../config";
import { CallError } from "../../errors";
import type { JobHandler, WebhookJob } from "../../queue/jobs";
import { isLoopback } from "../../settings/formats";

const privateRanges = ["private", "loopback", "linkLocal", "uniqueLocal", "carrierGradeNat", "unspecified"];

export const isPrivate = (address: string): boolean => privateRanges.includes(ipaddr.process(address).range());

/** https://undici.nodejs.org/#/docs/api/DiagnosticsChannel: a connection is made, and nothing is sent yet. */
const connected = "undici:client:sendHeaders";

interface Connected {
  request: { origin: string };
  socket: Socket;
}

/**
 * Ends a connection to a private address before anything is sent. A look-up before the call would leave its host the time
 * to answer the next one differently (DNS rebinding). An address in the URL itself is allowed.
 */
async function refusePrivateAddress(url: string, call: () => Promise<unknown>): Promise<void> {
  const { hostname, origin } = new URL(url);
  if (isIP(hostname.replace(/^\[(.+)\]$/, "$1")) || isLoopback(hostname)) return void (await call());
  const check = (message: unknown) => {
    const { request, socket } = message as Connected;
    if (request.origin === origin && isPrivate(socket.remoteAddress ?? "::")) {
      socket.destroy(new CallError("private_address"));
    }
  };
  subscribe(connected, check);
  try {
    await call();
  } finally {
    unsubscribe(connected, check);
  }
}

/** Standard Webhooks 1.0, "Payload structure". */
export type WebhookPayload =
  | { type: WebhookJob["type"]; timestamp: string; data: WebhookJob["data"] }
  | { type: "latchkey.test"; timestamp: string; data: Record<string, never> };

/**
 * Standard Webhooks 1.0, "Webhook headers": each attempt has the same id and its own time.
 * @throws CallError
 */
export async function sendWebhook(id: string, payload: WebhookPayload): Promise<void> {
  const { webhook } = config();
  if (!webhook) throw new Error("WEBHOOK_URL is not set.");
  const body = JSON.stringify(payload);
  const now = new Date();
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
    "webhook-signature": new Webhook(webhook.secret).sign(id, now, body),
  };
  await refusePrivateAddress(webhook.url, () => callText(webhook.url, { method: "POST", headers, body }));
}

export const handleWebhook: JobHandler<WebhookJob> = async ({ type, data }, { id, at }) => {
  return () => sendWebhook(id, { type, timestamp: at.toISOString(), data });
};

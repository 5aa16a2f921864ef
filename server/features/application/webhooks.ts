import { Webhook } from "standardwebhooks";
import { callText } from "../../calls/json-client";
import { config } from "../../config";
import type { JobHandler, WebhookJob } from "../../queue/jobs";

export const handleWebhook: JobHandler<WebhookJob> = async ({ type, data }, { id, at }) => {
  return () => sendWebhook(id, { type, timestamp: at.toISOString(), data });
};

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
  await callText(webhook.url, { method: "POST", headers, body });
}

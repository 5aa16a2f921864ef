import * as z from "zod";

export const webhookSecret = z.string().refine(isWebhookSecret, "must be whsec_ and the base64 of 24 to 64 bytes");

/** Standard Webhooks 1.0: 24 to 64 bytes, base64. */
function isWebhookSecret(text: string): boolean {
  const [, base64 = ""] = /^whsec_(.+)$/.exec(text) ?? [];
  const bytes = Buffer.from(base64, "base64");
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString("base64") === base64;
}

import { randomBytes } from "node:crypto";
import type { EntityManager } from "@mikro-orm/postgresql";
import * as z from "zod";
import { sha256 } from "../../crypto/tokens";
import { Probe } from "../../database/entities";
import { query } from "../../database/unit-of-work";
import type { RequestFacts } from "../../process/context";

const lifetime = 60_000; // ms

export const probeHeader = "latchkey-probe";

/** An address of RFC 5737, which no client has. The doctor sends it as a forged `X-Forwarded-For`. */
export const forgedClient = "192.0.2.1";

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

/** How the door sees a request, which the doctor compares with `APP_URL` and `TRUST_PROXY`. */
export const seenShape = z.object({
  client: z.string(),
  clientForwarded: z.boolean(),
  origin: z.string().refine(isOrigin),
  hostForwarded: z.boolean(),
});
export type SeenRequest = z.infer<typeof seenShape>;

export function seenRequest({ client, clientForwarded, origin, response }: RequestFacts): SeenRequest {
  const hostForwarded = response.req.headersDistinct["x-forwarded-host"] !== undefined; // `headers` has it no longer
  return { client, clientForwarded, origin, hostForwarded };
}

/** Stores a secret for one request of the doctor. */
export async function storeProbe(em: EntityManager): Promise<string> {
  const secret = randomBytes(32).toString("base64url");
  await em.insert(Probe, { secretHash: sha256(secret), expiresAt: new Date(Date.now() + lifetime) });
  return secret;
}

/** Whether this is a stored secret, which counts once. */
export async function takeProbe(secret: string | undefined): Promise<boolean> {
  if (secret === undefined || !isSecret(secret)) return false;
  const stored = { secretHash: sha256(secret), expiresAt: { $gt: new Date() } };
  return (await query((em) => em.nativeDelete(Probe, stored))) > 0;
}

const isSecret = (text: string) => /^[\w-]{43}$/.test(text);

import type { EntityManager } from "@mikro-orm/postgresql";
import * as z from "zod";
import type { RequestFacts } from "../../context";
import { Installation } from "../../database/entities";
import { hasEveryMigration } from "../../database/migrate";
import { query } from "../../database/unit-of-work";
import { processValue } from "../../process-value";

const readyFor = 1_000; // ms; strangers may ask, too
let askedAt = Number.NEGATIVE_INFINITY;
let ready: Promise<boolean>;

export function isReady(): Promise<boolean> {
  if (performance.now() - askedAt < readyFor) return ready;
  askedAt = performance.now();
  ready = query(hasEveryMigration).catch(() => false);
  return ready;
}

const installation = processValue<string>("installation");

export async function installationIdOf(em: EntityManager): Promise<string | undefined> {
  const [row] = await em.findAll(Installation, { limit: 1 });
  return row?.id;
}

/** Called once at the start, so that `/healthz` needs no database. */
export async function readInstallationId(): Promise<void> {
  installation.current = await query(installationIdOf);
}

/** An address of RFC 5737, which no client has. `latchkey doctor` sends it as a forged `X-Forwarded-For`. */
export const forgedClient = "192.0.2.1";

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

/** How the service sees a request of `latchkey doctor`, which compares it to `APP_URL` and `TRUST_PROXY`. */
export const selfReportShape = z.object({
  installation: z.uuid().nullable(),
  origin: z.string().refine(isOrigin),
  client: z.enum(["connection", "proxy", "forged"]),
});
export type SelfReport = z.infer<typeof selfReportShape>;

/** The report reveals no address of the internal network to a client. */
export function selfReport({ origin, client, clientForwarded }: RequestFacts): SelfReport {
  const from = client === forgedClient ? "forged" : clientForwarded ? "proxy" : "connection";
  return { installation: installation.current ?? null, origin, client: from };
}

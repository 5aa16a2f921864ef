import * as z from "zod";
import { portNumber } from "./forms";

export interface MetricsConfig {
  readonly host: string;
  readonly port: number;
}

/** The form of each setting by itself. */
export const metricsForms = {
  METRICS_PORT: portNumber.optional(),
  METRICS_HOST: z
    .string()
    .regex(/^[\w.:-]+$/, "must be an address or a host name")
    .default("127.0.0.1"),
};

/** `null` without a port. */
export const metricsSettings = z
  .object({
    PORT: z.unknown().optional(),
    METRICS_PORT: z.unknown().optional(),
    METRICS_HOST: z.unknown().optional(),
  })
  .refine(({ PORT, METRICS_PORT }) => METRICS_PORT === undefined || METRICS_PORT !== PORT, {
    path: ["METRICS_PORT"],
    error: "must be another port than PORT",
  })
  .transform(({ METRICS_PORT, METRICS_HOST }): MetricsConfig | null =>
    METRICS_PORT === undefined ? null : { host: String(METRICS_HOST), port: Number(METRICS_PORT) },
  );

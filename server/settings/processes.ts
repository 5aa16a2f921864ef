import { availableParallelism } from "node:os";
import * as z from "zod";

/** The form of the setting by itself. */
export const processesForm = z
  .string()
  .regex(/^(auto|[1-9]\d?)$/, "must be auto, or a number from 1 to 99")
  .default("1")
  .transform((value) => (value === "auto" ? availableParallelism() : Number(value)));

export const processesSettings = z
  .object({ PROCESSES: z.unknown().optional(), DATABASE_URL: z.unknown().optional() })
  .refine(({ PROCESSES = 1, DATABASE_URL }) => PROCESSES === 1 || !String(DATABASE_URL).startsWith("pglite:"), {
    path: ["PROCESSES"],
    error: "must be 1 with the embedded database, which belongs to one process",
  });

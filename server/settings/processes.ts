import { availableParallelism } from "node:os";
import * as z from "zod";

/** The form of the setting by itself. */
export const processesForm = z
  .string()
  .regex(/^(auto|[1-9]\d?)$/, "must be auto, or a number from 1 to 99")
  .default("1")
  .transform((value) => (value === "auto" ? availableParallelism() : Number(value)));

/** A malformed number of processes is a string here, and not compared. */
export const processesSettings = z
  .object({ PROCESSES: z.unknown().optional(), DATABASE_URL: z.unknown().optional() })
  .refine(
    ({ PROCESSES, DATABASE_URL }) =>
      typeof PROCESSES !== "number" || PROCESSES === 1 || !String(DATABASE_URL).startsWith("pglite:"),
    {
      path: ["PROCESSES"],
      error: "must be 1 with the embedded database, which belongs to one process",
    },
  );

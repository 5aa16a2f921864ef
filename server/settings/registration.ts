import * as z from "zod";
import { required } from "./forms";

/** Who gets a new account. */
export type RegistrationConfig =
  | { readonly mode: "open" | "closed" }
  | { readonly mode: "domains"; readonly domains: readonly string[] };

const modes = ["open", "closed", "domains"] as const;
const knownModes = "must be open, closed or domains";

const domain = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

const domainsIn = (text: string) => text.split(",").map((name) => name.trim().toLowerCase());

/** The form of each setting by itself. */
export const registrationForms = {
  REGISTRATION: z.enum(modes, knownModes).default("open"),
  REGISTRATION_DOMAINS: z
    .string()
    .refine(
      (text) => domainsIn(text).every((name) => domain.test(name)),
      "must be domains, e.g. example.org,example.net",
    )
    .optional(),
};

/** Domains that are not in force would look like a limit. */
const noDomains = z.undefined("is set, but REGISTRATION is not domains").optional();

export const registrationSettings = z
  .discriminatedUnion(
    "REGISTRATION",
    [
      z.object({ REGISTRATION: z.literal("open").default("open"), REGISTRATION_DOMAINS: noDomains }),
      z.object({ REGISTRATION: z.literal("closed") }),
      z.object({
        REGISTRATION: z.literal("domains"),
        REGISTRATION_DOMAINS: required("REGISTRATION is domains"),
      }),
    ],
    knownModes,
  )
  .transform((env): RegistrationConfig => {
    if (env.REGISTRATION !== "domains") return { mode: env.REGISTRATION };
    return { mode: env.REGISTRATION, domains: domainsIn(env.REGISTRATION_DOMAINS) };
  });

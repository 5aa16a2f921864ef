import * as z from "zod";
import { areGroups, maxGroups, sortedGroups } from "../../accounts/groups/names";
import { hashProblem } from "../../accounts/passwords/imported-hashes";
import { parseAsciiAddress } from "../../accounts/users/email-address";
import type { User } from "../../database/entities";
import { printable } from "../../process/terminal";
import { providerId } from "../../provider/providers";
import { longestName, parseName } from "../../rules";
import { checked, parsed } from "../../settings/formats";

const text = z.string({ error: ({ input }) => (input === undefined ? "is missing" : "is not text") });

const idpId = z.unknown().transform((value, context) => {
  const { data, success } = providerId.nullish().safeParse(value);
  if (success) return data;
  context.addIssue("is not text of 1 to 255 characters or a whole number");
  return z.NEVER;
});

const badTime = "is not a time in UTC such as 2026-01-31T23:59:59Z";

/** RFC 3339, section 5.6, in UTC; from 1970, because PostgreSQL has no year 0. */
const time = z.iso
  .datetime(badTime)
  .transform((text) => new Date(text))
  .refine((at) => at.getTime() >= 0, badTime)
  .transform((at) => at.toISOString());

const wrongGroups = `is not a list of at most ${maxGroups} groups`;

const parsedGroups = z.array(z.string(wrongGroups), wrongGroups).refine(areGroups, wrongGroups).transform(sortedGroups);

/** Columns that are not imported. */
type NotInLines =
  | "pictureUrl"
  | "idpGroups"
  | "idpQuestionedAt"
  | "idpLogoutAt"
  | "language"
  | "undeliverableAt"
  | "undeliverableBy"
  | "createdAt";

const fields = {
  id: z.uuid("is not a UUID").toLowerCase().nullish().describe("a UUID"),
  email: parsed(parseAsciiAddress, "is not an email address", text),
  name: parsed(parseName, `is empty, longer than ${longestName} characters, or not one line of plain text`, text)
    .nullish()
    .describe("as pages show it"),
  passwordHash: checked(hashProblem, text).nullish().describe("Argon2id, bcrypt, scrypt or PBKDF2: docs/moving.md"),
  idpId: idpId.optional().describe("the id at the identity provider"),
  idpIssuer: z
    .string("is not text")
    .regex(/^[!-~]{1,255}$/, "is neither an issuer nor a provider's name")
    .nullish()
    .describe("whose id it is: an issuer, or a provider's name; by default the configured provider's"),
  idpBlockedAt: time.nullish().describe("when the owner disconnected the provider"),
  suspendedAt: time.nullish().describe("when the operator suspended the account"),
  groups: parsedGroups.nullish().describe("a list of names"),
} satisfies Record<Exclude<keyof User & string, NotInLines>, z.ZodType>;

export const userFields = Object.keys(fields) as (keyof UserLine)[];

/** What each field but `email` is, for the operator. */
export const optionalFields = Object.entries<z.ZodType>(fields)
  .filter(([name]) => name !== "email")
  .map(([name, { description }]) => `\`${name}\` (${description})`);

export type UserLine = z.infer<typeof userLine>;

/** The user of a line, or why the line is wrong. No reason quotes a value. */
export function parseUserLine(line: string): { user: UserLine } | { problem: string } {
  const json = parseJson(line);
  if (json === undefined) return { problem: "is not JSON" };
  const { data, error } = userLine.safeParse(json);
  if (data) return { user: data };
  return { problem: error.issues.map(({ path, message }) => [...path, message].join(" ")).join(", ") };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const userLine = z
  .strictObject(fields, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has unknown fields: ${printable(JSON.stringify(issue.keys))}`
        : "is not a JSON object",
  })
  .refine(({ idpId, idpIssuer }) => !idpIssuer || idpId != null, { path: ["idpIssuer"], error: "has no idpId" });

import type * as z from "zod";

/** What is said about a setting: the start, `.env.example` and `docs/settings.md` have it from here. */
export interface Setting {
  /** Parses its text. A problem completes the sentence "NAME …", and quotes no value. */
  form: z.ZodType<unknown, string>;
  /** As it would stand in the environment. */
  default?: string;
  /** Markdown. */
  help: string;
  /** For `.env.example`, instead of the default. */
  example?: string;
  /** It may be in a file, whose path is NAME_FILE. */
  secret?: true;
  /** `OTHER=value`, or `OTHER` for each value: with it, this setting must not be missing. */
  requiredWith?: string;
}

/** What settings are parsed to; `null` is one that is not set. */
export type Values<Settings extends Record<string, Setting>> = {
  readonly [Name in keyof Settings]:
    | z.output<Settings[Name]["form"]>
    | (Settings[Name] extends { default: string } ? never : null);
};

/** A value that is there because its setting is required with another one. */
export const given = <Value>(value: Value | null): Value => value as Value;

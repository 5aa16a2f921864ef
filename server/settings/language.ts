import * as z from "zod";
import { isLanguage, type Language, languages } from "../languages/languages";

const known = new Intl.ListFormat("en-GB", { type: "disjunction" }).format(Object.keys(languages));

/** The language of a visitor who asks for none that there is, and of mails that no page asked for. */
export const languageForms = {
  DEFAULT_LOCALE: z
    .string()
    .default("en")
    .refine(isLanguage, `must be ${known}`)
    .transform((tag) => tag as Language),
};

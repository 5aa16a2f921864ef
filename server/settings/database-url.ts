import * as z from "zod";

const noUrl = "must be a postgresql:// URL";
const present = /./;

/** The parameters that ask for TLS, with their values. Another one must not be taken for one of them. */
const tlsParameters: Record<string, RegExp> = {
  ssl: /^(?:true|false|1|0)$/,
  sslmode: /^(?:disable|prefer|require|verify-ca|verify-full|no-verify)$/,
  sslrootcert: present,
  sslcert: present,
  sslkey: present,
};

/** A password with a raw `/`, `?` or `#` ends the host early: what follows would be read, and printed, as another part. */
const isEncoded = ({ pathname, search, hash }: URL) =>
  /^\/[^/@]+$/.test(pathname) && !search.includes("@") && hash === "";

/** Why a text is no URL of a PostgreSQL database; `null` when it is one. No reason quotes a value. */
export function postgresUrlProblem(text: string): string | null {
  if (!/^postgres(?:ql)?:/.test(text)) return noUrl;
  if (!/^\w+:\/\//.test(text) || !URL.canParse(text) || !isEncoded(new URL(text))) {
    return "must be postgresql://USER:PASSWORD@HOST/DATABASE, each part percent-encoded";
  }
  for (const [name, value] of new URL(text).searchParams) {
    if (/ssl|^uselibpqcompat$/i.test(name) && !tlsParameters[name]?.test(value)) {
      return `has an unknown parameter or value of TLS (${name}): sslmode=verify-full asks for it`;
    }
  }
  return null;
}

export const databaseUrl = z.string().superRefine((text, context) => {
  if (/^pglite:./.test(text)) return;
  const problem = postgresUrlProblem(text);
  if (problem === noUrl) context.addIssue(`${problem}, or pglite: and a folder`);
  else if (problem !== null) context.addIssue(problem);
});

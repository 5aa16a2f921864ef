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
  sslnegotiation: /^(?:postgres|direct)$/,
};

/** Why a text is no URL of a PostgreSQL database; `null` when it is one. No reason quotes a value. */
export function postgresUrlProblem(text: string): string | null {
  if (!/^postgres(?:ql)?:/.test(text)) return noUrl;
  if (!/^\w+:\/\//.test(text) || !URL.canParse(text) || !/^\/[^/@]+$/.test(new URL(text).pathname)) {
    return "must be postgresql://USER:PASSWORD@HOST/DATABASE, each part percent-encoded";
  }
  for (const [name, value] of new URL(text).searchParams) {
    if (/^ssl/i.test(name) && !tlsParameters[name]?.test(value)) {
      return `has an unknown parameter or value of TLS (${name}): sslmode=verify-full asks for it`;
    }
  }
  return null;
}

/** `DATABASE_URL`. */
export const databaseUrl = z.string().superRefine((text, context) => {
  if (/^pglite:./.test(text)) return;
  const problem = postgresUrlProblem(text);
  if (problem === noUrl) context.addIssue(`${problem}, or pglite: and a folder`);
  else if (problem !== null) context.addIssue(problem);
});

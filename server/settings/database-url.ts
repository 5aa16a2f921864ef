import { checked } from "./formats";

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

export const directUrl = checked(postgresUrlProblem);

export const databaseUrl = checked((text) => {
  const problem = /^pglite:./.test(text) ? null : postgresUrlProblem(text);
  return problem === noUrl ? `${problem}, or pglite: and a folder` : problem;
});

/** Why a text is not a URL of a PostgreSQL database; `null` when it is one. No reason quotes a value. */
export function postgresUrlProblem(text: string): string | null {
  if (!/^postgres(?:ql)?:/.test(text)) return noUrl;
  const [url = "", ...others] = urlsOfHosts(text);
  if (![url, ...others].every((one) => URL.canParse(one) && isEncoded(new URL(one)))) {
    return "must be postgresql://USER:PASSWORD@HOST/DATABASE, each part percent-encoded";
  }
  if (others.length > 0 && !wantsPrimary(url)) return "has several hosts: it needs target_session_attrs=read-write";
  for (const [name, value] of new URL(url).searchParams) {
    if (/ssl|^uselibpqcompat$/i.test(name) && !tlsParameters[name]?.test(value)) {
      return `has an unknown parameter or value of TLS (${name}): use sslmode=verify-full for TLS`;
    }
  }
  return null;
}

/** libpq's form of several hosts, `postgresql://USER@A:5432,B:5432/DATABASE`, as one URL for each host. */
export function urlsOfHosts(text: string): string[] {
  const [, before = "", hosts = "", after = ""] = /^(\w+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  return hosts.split(",").map((host) => before + host + after);
}

/** A raw `/`, `?` or `#` in a password ends the host early: the rest would be read, and printed, as another part. */
const isEncoded = ({ pathname, search, hash }: URL) =>
  /^\/[^/@]+$/.test(pathname) && !search.includes("@") && hash === "";

/** libpq's `target_session_attrs`: whether a server that is read-only, such as a replica, must not be used. */
export const wantsPrimary = (url: string) => new URL(url).searchParams.get("target_session_attrs") === "read-write";

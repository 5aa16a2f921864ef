import { list, oneOf } from "./forms";
import { given, type Setting, type Values } from "./setting";

const domain = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/;

const parseDomain = (text: string) => (domain.test(text.toLowerCase()) ? text.toLowerCase() : null);

/** Who gets a new account. */
export const registrationSettings = {
  REGISTRATION: {
    form: oneOf("open", "closed", "domains"),
    default: "open",
    help: "Who gets a new account: everybody, nobody (`closed`), or addresses of `REGISTRATION_DOMAINS` (`domains`).",
  },
  REGISTRATION_DOMAINS: {
    form: list(parseDomain, "must be domains, e.g. example.org,example.net"),
    help: "The domains, separated by commas. Their subdomains do not count.",
    example: "example.org,example.net",
    requiredWith: "REGISTRATION=domains",
  },
} satisfies Record<string, Setting>;

export function registrationConfig({ REGISTRATION: mode, REGISTRATION_DOMAINS }: Values<typeof registrationSettings>) {
  return mode === "domains" ? { mode, domains: given(REGISTRATION_DOMAINS) } : { mode };
}

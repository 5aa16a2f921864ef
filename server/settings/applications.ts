import { form, freeText, list, parseOrigin } from "./forms";
import { plainHost } from "./return-to";
import { parseCookieDomain } from "./session-domain";
import type { Setting } from "./setting";

function parseReturnOrigin(text: string): string | null {
  const origin = parseOrigin(text);
  return origin !== null && plainHost.test(new URL(origin).hostname.replace(/^\*\./, "")) ? origin : null;
}

/** What applications behind the login service need of it. */
export const applicationSettings = {
  RETURN_ORIGINS: {
    form: list(parseReturnOrigin, "must be origins such as https://app.example.org, separated by commas"),
    default: "",
    help: "The origins, separated by commas, that a sign-in may lead to besides `APP_URL`.",
    example: "https://app.example.com,https://shop.example.com",
  },
  AFTER_SIGN_IN: {
    form: freeText,
    default: "/dashboard",
    help: "Where a sign-in without `return_to` ends: a path, or a URL of `APP_URL` or of `RETURN_ORIGINS`.",
  },
  SESSION_DOMAIN: {
    form: form(parseCookieDomain, "must be a domain such as example.org, of two labels or more and no public suffix"),
    help: "Shares the session cookie with every host of this domain. Read SECURITY.md first.",
    example: "example.com",
  },
} satisfies Record<string, Setting>;

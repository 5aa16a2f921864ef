import { config } from "../../config";
import { type Answer, json } from "../../door/endpoint-answers";
import { notSignedIn } from "../../door/request-facts";
import { boundCookieAttributes, isOverHttps, sessionCookieIn, sessionCookieName } from "../../door/session-cookies";
import { logEvent, onceAMinute } from "../../log";
import type { RequestFacts } from "../../process/context";
import { boundCookieLifetime } from "../../rules";
import { siteOf } from "../../settings/session-domain";
import { refreshBinding, registerBinding } from "./binding";

// The endpoints of Device Bound Session Credentials. The browser itself asks, perhaps without cookies, `Origin` and
// `Sec-Fetch-*`. It ends its session after 302, 401 and 429, but keeps it after 5xx.

export const refreshPath = "/auth/device/refresh";

const excludedPaths = ["/auth/device", "/build", "/__files", "/favicon.svg"]; // requests there wait for no refresh

export async function registerDevice(facts: RequestFacts): Promise<Answer> {
  const proof = config().deviceBoundSessions && textOf(facts, "secure-session-response");
  const registered = proof ? await registerBinding(proof) : null;
  if (proof && !registered) logRefusedProof();
  if (!registered) return answer(400);
  const headers = { ...challengeHeader(registered), "Content-Type": "application/json" };
  return answer(200, headers, JSON.stringify(instructions(facts, registered.id)));
}

/** The draft's "JSON Session Instruction Format". */
function instructions(facts: RequestFacts, id: string) {
  const { sessionDomain } = config();
  const isSite = sessionDomain !== null && isOverHttps(facts);
  const domain = new URL(facts.origin).hostname;
  return {
    session_identifier: id,
    refresh_url: refreshPath,
    scope: {
      origin: isSite ? siteOf(config().appUrl) : facts.origin,
      include_site: isSite,
      scope_specification: excludedPaths.map((path) => ({ type: "exclude", domain, path })),
    },
    credentials: [{ type: "cookie", ...boundCookie(facts) }],
    allowed_refresh_initiators: ["*"], // else a link of another site finds no session
  };
}

export async function refreshDevice(facts: RequestFacts): Promise<Answer> {
  const id = textOf(facts, "sec-secure-session-id");
  if (id === null) return answer(400);
  const proof = textOf(facts, "secure-session-response");
  const refreshed = await refreshBinding({ id, proof, sessionToken: sessionCookieIn(facts) });
  if (!refreshed) return answer(401, notSignedIn);
  if (proof !== null && refreshed.cookie === undefined) logRefusedProof();
  if (refreshed.cookie === undefined) return answer(403, challengeHeader(refreshed));
  const { name, attributes } = boundCookie(facts);
  const cookie = `${name}=${refreshed.cookie}; Max-Age=${boundCookieLifetime / 1000}; ${attributes}`;
  return answer(200, { ...challengeHeader(refreshed), "Set-Cookie": cookie });
}

/** A string without its parameters (RFC 9651). Chromium 150 sends some of the draft's without quotation marks. */
const textOf = ({ response }: RequestFacts, header: string) =>
  /^\s*"?([^";\s]*)/.exec(response.req.headers[header]?.toString() ?? "")?.[1] || null;

function answer(status: number, headers: Record<string, string> = {}, body = ""): Answer {
  return { status, headers: { "Cache-Control": "no-store", ...headers }, body };
}

const mayLogRefusal = onceAMinute();

function logRefusedProof(): void {
  if (mayLogRefusal()) logEvent({ event: "session.proof_refused" });
}

const challengeHeader = ({ id, challenge }: { id: string; challenge: string }) => ({
  "Secure-Session-Challenge": `"${challenge}";id="${id}"`,
});

const boundCookie = (facts: RequestFacts) => ({
  name: sessionCookieName(isOverHttps(facts), "bound"),
  attributes: boundCookieAttributes(isOverHttps(facts)),
});

/** The draft's "device-bound-sessions Well Known": which hosts may bind sessions of the whole site. */
export function registeringOrigins(): Answer | null {
  if (!config().deviceBoundSessions) return null;
  return json({ registering_origins: [config().appUrl] });
}

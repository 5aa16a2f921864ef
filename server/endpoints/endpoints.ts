import { refreshDevice, refreshPath, registerDevice, registeringOrigins } from "../accounts/session-binding/answers";
import { registrationPath } from "../accounts/session-binding/offer";
import { config } from "../config";
import { type Answer, type Endpoint, type EndpointOf, json, plainText } from "../door/endpoint-answers";
import { publicKeys } from "../features/application/signing-keys";
import { probeHeader, seenRequest, takeProbe } from "../features/operator/probe";
import { isReady } from "../features/operator/schema";
import { findFile } from "../files/branding";
import type { RequestFacts } from "../process/context";
import { answerSession } from "./session";

/** https://www.w3.org/TR/change-password-url/ */
const changePassword = () => ({ status: 302, headers: { Location: "/forgot-password" }, body: "" });

/** The endpoints that answer before Remix, except `/auth/verify`. */
export const endpointOf: EndpointOf = (path) => {
  if (path.startsWith("/__files/")) return { name: "/__files", answer: () => fileAt(path) };
  const name = decodeURIComponent(path);
  return endpoints.find((endpoint) => endpoint.name === name);
};

/** A file of the brand or texts. An SVG may have scripts and links: opened as a page, it can run and load nothing. */
function fileAt(path: string): Answer | null {
  const file = findFile(path);
  if (!file) return null;
  const headers = {
    "Content-Type": file.type,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cache-Control": "public, max-age=31536000, immutable",
  };
  return { status: 200, headers, body: file.content, gzipped: file.gzipped };
}

const endpoints: Endpoint[] = [
  { name: "/healthz", answer: () => plainText("ok\n") },
  { name: "/readyz", answer: async () => ((await isReady()) ? plainText("ready\n") : plainText("not ready\n", 503)) },
  { name: "/auth/session", method: "any", answer: answerSession },
  { name: "/auth/probe", method: "any", answer: answerProbe },
  { name: "/.well-known/jwks.json", answer: keySet },
  { name: "/.well-known/passkey-endpoints", answer: passkeyPages },
  { name: "/.well-known/device-bound-sessions", answer: registeringOrigins },
  { name: "/.well-known/change-password", answer: changePassword },
  { name: registrationPath, method: "POST", answer: registerDevice },
  { name: refreshPath, method: "POST", answer: refreshDevice },
];

/** How the door sees a request of the doctor; for anybody else, nothing is here. */
async function answerProbe(facts: RequestFacts): Promise<Answer | null> {
  const secret = facts.response.req.headers[probeHeader]?.toString();
  if (facts.method !== "GET" || !(await takeProbe(secret))) return null;
  return json(seenRequest(facts), { "Cache-Control": "no-store" });
}

/** A JSON Web Key Set (RFC 7517): the public keys of the tokens of `/auth/verify`. */
async function keySet(): Promise<Answer | null> {
  const keys = await publicKeys();
  return keys && json({ keys }, { "Content-Type": "application/jwk-set+json", "Cache-Control": "max-age=300" });
}

/** W3C, "A Well-Known URL for Relying Party Passkey Endpoints". */
function passkeyPages(): Answer | null {
  if (config().relyingPartyId === null) return null;
  const page = `${config().appUrl}/dashboard`;
  return json({ enroll: page, manage: page });
}

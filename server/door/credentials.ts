import type { IncomingMessage } from "node:http";
import { accessTokenPrefix } from "../crypto/tokens";

/** Every access token that a request has, as it was sent. Other credentials are the application's. */
export function accessTokensIn(request: IncomingMessage): string[] {
  const { authorization, "x-latchkey-token": own } = request.headers;
  if (authorization === undefined && own === undefined) return [];
  const lines = request.headersDistinct; // `headers` has the first line of Authorization alone
  const sent = [
    ...partsOf(lines.authorization).map(credentialIn),
    ...partsOf(lines["x-latchkey-token"]).map((part) => part.trim()),
  ];
  return sent.filter((credential) => credential.startsWith(accessTokenPrefix));
}

const partsOf = (lines: string[] = []) => lines.flatMap((line) => line.split(","));

/** RFC 9110, section 11.4. A proxy may join the lines of a header with commas. */
function credentialIn(part: string): string {
  const [, scheme = "", credentials = ""] = /^(bearer|basic)[ \t]+(.*)$/i.exec(part.trim()) ?? [];
  return scheme.toLowerCase() === "basic" ? passwordOf(credentials) : credentials;
}

/** RFC 7617: what follows the first colon is the password. */
const passwordOf = (credentials: string) => /:(.*)/s.exec(Buffer.from(credentials, "base64").toString())?.[1] ?? "";

import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { act, logIn, openAccount } from "./account-calls";
import { callEndpoint } from "./endpoint-calls";
import type { Outcome, RequestOptions } from "./route-calls";

// A browser's half of Device Bound Session Credentials, with a key in memory.

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

type Algorithm = "ES256" | "RS256";

export type DeviceKey = ReturnType<typeof deviceKey>;

export function createKey(alg: Algorithm = "ES256", modulusLength = 2048): DeviceKey {
  const { privateKey } =
    alg === "ES256"
      ? generateKeyPairSync("ec", { namedCurve: "P-256" })
      : generateKeyPairSync("rsa", { modulusLength });
  return deviceKey(alg, privateKey);
}

export const deviceKey = (alg: Algorithm, privateKey: KeyObject) => ({
  alg,
  jwk: createPublicKey(privateKey).export({ format: "jwk" }),
  privateKey,
});

const signatureOf = (text: string, alg: string, key: KeyObject) =>
  sign("sha256", Buffer.from(text), alg === "ES256" ? { key, dsaEncoding: "ieee-p1363" } : key).toString("base64url");

/** A JWT of a key. @param header replaces members of its header */
export function proofOf(key: DeviceKey, jti: unknown, header: Record<string, unknown> = {}): string {
  const signed = `${base64url({ alg: key.alg, typ: "dbsc+jwt", ...header })}.${base64url({ jti })}`;
  return `${signed}.${signatureOf(signed, key.alg, key.privateKey)}`;
}

/** The proof of a registration: its header has the key. */
export const registrationProof = (key: DeviceKey, jti: unknown, header: Record<string, unknown> = {}) =>
  proofOf(key, jti, { jwk: key.jwk, ...header });

/** The challenge of an offer or of an answer; empty without one. */
export const challengeIn = (headers: Headers) =>
  /challenge="([^"]+)"/.exec(headers.get("Secure-Session-Registration") ?? "")?.[1] ??
  /^"([^"]+)";id="/.exec(headers.get("Secure-Session-Challenge") ?? "")?.[1] ??
  "";

/** A browser in this process that binds its session, with its own cookies. */
export class BoundBrowser {
  readonly cookies: Record<string, string> = {};
  /** The binding's identifier, once it is registered. */
  id = "";
  /** For the next proof. */
  challenge = "";

  constructor(
    readonly key = createKey(),
    readonly options: RequestOptions = {},
  ) {}

  get cookie(): string {
    return Object.entries(this.cookies)
      .filter(([, value]) => value !== "")
      .map(([name, value]) => `${name}=${value}`)
      .join("; ");
  }

  /** Takes the cookies and the challenge of an answer. */
  take<Taken extends Pick<Outcome, "cookies" | "headers">>(answer: Taken): Taken {
    Object.assign(this.cookies, answer.cookies);
    this.challenge = challengeIn(answer.headers) || this.challenge;
    return answer;
  }

  async logIn(): Promise<Outcome> {
    return this.take(await logIn({ ...this.options, cookie: this.cookie }));
  }

  open = () => openAccount(this.cookie, this.options);

  act = async (intent: string, fields: Record<string, string>) =>
    this.take(await act(this.cookie, intent, fields, this.options));

  /** As Chromium asks: an empty POST, without `Origin` and `Sec-Fetch-*`. */
  async ask(path: string, headers: Record<string, string>, cookie = this.cookie) {
    const answer = await callEndpoint(path, { ...this.options, headers, cookie });
    const received = new Headers(answer?.headers);
    const cookies = Object.fromEntries(received.getSetCookie().map((line) => /^([^=]+)=([^;]*)/.exec(line)!.slice(1)));
    return { status: answer?.status, headers: received, cookies, body: String(answer?.body) };
  }

  async register(proof = registrationProof(this.key, this.challenge), cookie?: string) {
    const answer = this.take(await this.ask("/auth/device/register", { "secure-session-response": proof }, cookie));
    if (answer.status === 200) this.id = JSON.parse(answer.body).session_identifier;
    return answer;
  }

  async refresh(proof: string | null = proofOf(this.key, this.challenge), cookie?: string) {
    const headers = { "sec-secure-session-id": this.id, ...(proof !== null && { "secure-session-response": proof }) };
    return this.take(await this.ask("/auth/device/refresh", headers, cookie));
  }

  /** Signs in, registers and refreshes: half a minute later the session is bound. */
  async bind(): Promise<this> {
    await this.logIn();
    await this.register();
    await this.refresh();
    return this;
  }
}

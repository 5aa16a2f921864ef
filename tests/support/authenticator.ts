import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes, sign } from "node:crypto";
import { isoCBOR } from "@simplewebauthn/server/helpers";

interface Credential {
  id: Buffer;
  /** As it is stored. */
  publicKey: string;
  privateKey: KeyObject;
  userHandle: string;
}

/** What an authenticator, or the page around it, does otherwise than it should. */
export interface Changes {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  userVerified?: boolean;
  userPresent?: boolean;
  counter?: number;
  userHandle?: string;
  id?: Buffer;
  /** `null`: the browser does not name it, as Safari. */
  crossOrigin?: string | null;
  fmt?: string;
  attStmt?: Map<string, unknown>;
  /** In place of a new key of P-256. */
  privateKey?: KeyObject;
  /** What the answer calls its public key (RFC 9053). */
  coseKey?: CoseKey;
}

export type CoseKey = Map<number, number | Uint8Array>;

interface Options {
  challenge: string;
  user?: { id: string };
}

const bytesOf = (text = "") => new Uint8Array(Buffer.from(text, "base64url"));

export const es256 = ({ x, y }: Record<"x" | "y", string | undefined>): CoseKey =>
  new Map<number, number | Uint8Array>([[1, 2], [3, -7], [-1, 1], [-2, bytesOf(x)], [-3, bytesOf(y)]]); // biome-ignore format: one line

export const rs256 = ({ n, e }: JsonWebKey): CoseKey =>
  new Map<number, number | Uint8Array>([
    [1, 3],
    [3, -257],
    [-1, bytesOf(n)],
    [-2, bytesOf(e)],
  ]);

const hash = (data: string | Buffer) => createHash("sha256").update(data).digest();

/** An authenticator with the page that asks it, in software: WebAuthn, sections 5.8.1, 6.1 and 6.5. */
export class Authenticator {
  readonly credentials: Credential[] = [];
  counter = 0;
  readonly #origin: string;

  constructor(origin = "http://localhost:3000") {
    this.#origin = origin;
  }

  #clientData(type: string, challenge: string, changes: Changes): Buffer {
    const { origin = this.#origin, crossOrigin } = changes;
    const top = crossOrigin ? { crossOrigin: true, topOrigin: crossOrigin } : { crossOrigin: crossOrigin === null };
    return Buffer.from(
      JSON.stringify({ type: changes.type ?? type, challenge: changes.challenge ?? challenge, origin, ...top }),
    );
  }

  #authenticatorData(
    { rpId, userVerified = true, userPresent = true, counter }: Changes,
    attested = Buffer.alloc(0),
  ): Buffer {
    const flags = (userPresent ? 0x01 : 0) | (userVerified ? 0x04 : 0) | (attested.length > 0 ? 0x40 : 0);
    const head = Buffer.alloc(5);
    head.writeUInt8(flags);
    head.writeUInt32BE(counter ?? this.counter, 1);
    return Buffer.concat([hash(rpId ?? new URL(this.#origin).hostname), head, attested]);
  }

  /** Of the newest passkey, as the service stores it. */
  get credentialId(): string {
    return this.credentials.at(-1)!.id.toString("base64url");
  }

  /** Answers `navigator.credentials.create` with a new ES256 key, as JSON. */
  create({ challenge, user }: Options, changes: Changes = {}): string {
    const { privateKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey } = changes;
    const jwk = privateKey.export({ format: "jwk" });
    const key = isoCBOR.encode(changes.coseKey ?? (jwk.kty === "RSA" ? rs256(jwk) : es256({ x: jwk.x, y: jwk.y })));
    const id = changes.id ?? randomBytes(32);
    this.credentials.push({
      id,
      publicKey: Buffer.from(key).toString("base64url"),
      privateKey,
      userHandle: user?.id ?? "",
    });
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const authData = this.#authenticatorData(changes, Buffer.concat([Buffer.alloc(16), length, id, key]));
    const { fmt = "none", attStmt = new Map() } = changes;
    const attestation = new Map<string, unknown>([["fmt", fmt], ["attStmt", attStmt], ["authData", new Uint8Array(authData)]]); // biome-ignore format: one line
    return this.#answer(id, {
      clientDataJSON: this.#clientData("webauthn.create", challenge, changes).toString("base64url"),
      attestationObject: Buffer.from(isoCBOR.encode(attestation as Map<string, string>)).toString("base64url"),
      transports: ["internal"],
    });
  }

  /** Answers `navigator.credentials.get` with the newest passkey, as JSON. */
  get({ challenge }: Options, changes: Changes = {}): string {
    const { id, privateKey, userHandle } = this.credentials.at(-1)!;
    const clientData = this.#clientData("webauthn.get", challenge, changes);
    const authenticatorData = this.#authenticatorData(changes);
    const signed = Buffer.concat([authenticatorData, hash(clientData)]);
    return this.#answer(changes.id ?? id, {
      clientDataJSON: clientData.toString("base64url"),
      authenticatorData: authenticatorData.toString("base64url"),
      signature: sign("sha256", signed, privateKey).toString("base64url"),
      userHandle: changes.userHandle ?? userHandle,
    });
  }

  #answer(id: Buffer, response: Record<string, string | string[]>): string {
    const text = id.toString("base64url");
    return JSON.stringify({ id: text, rawId: text, type: "public-key", clientExtensionResults: {}, response });
  }
}

import { generateKeyPairSync, randomUUID } from "node:crypto";
import forge from "node-forge";

export interface Certificate {
  key: string;
  cert: string;
}

export interface Authority {
  ca: string;
  /** @param name the subject's name, such as `DNS:mail.example` or `IP:127.0.0.1` */
  sign(name: string, days?: number): Certificate;
}

type Extension = { name: string; [value: string]: unknown };

const dayInMs = 86_400_000;

function createKeys() {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  return { key: privateKey, public: forge.pki.publicKeyFromPem(publicKey) };
}

type Keys = ReturnType<typeof createKeys>;
type Signer = Pick<Keys, "key"> & { name: string };

function certify(subject: string, keys: Keys, signer: Signer, days: number, extension: Extension): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = keys.public;
  certificate.serialNumber = `01${forge.util.bytesToHex(forge.random.getBytesSync(8))}`;
  certificate.validity.notBefore = new Date(Date.now() - 2 * dayInMs);
  certificate.validity.notAfter = new Date(Date.now() + days * dayInMs);
  certificate.setSubject([{ shortName: "CN", value: subject }]);
  certificate.setIssuer([{ shortName: "CN", value: signer.name }]);
  certificate.setExtensions([extension]);
  certificate.sign(forge.pki.privateKeyFromPem(signer.key), forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

function alternativeName(name: string): Extension {
  const [kind, value] = name.split(/:(.*)/s);
  return { name: "subjectAltName", altNames: [kind === "IP" ? { type: 7, ip: value } : { type: 2, value }] };
}

const signed = createKeys();

export function createAuthority(): Authority {
  const own = createKeys();
  const signer = { name: `Test CA ${randomUUID()}`, key: own.key };
  return {
    ca: certify(signer.name, own, signer, 2, { name: "basicConstraints", cA: true, critical: true }),
    sign: (name, days = 2) => ({ key: signed.key, cert: certify("Test", signed, signer, days, alternativeName(name)) }),
  };
}

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Certificate {
  key: string;
  cert: string;
}

/** A new certificate authority, which can sign certificates. */
export interface Authority {
  /** Its certificate, in PEM. */
  ca: string;
  /** @param name the subject's name, such as `DNS:mail.example` or `IP:127.0.0.1` */
  sign(name: string, days?: number): Certificate;
}

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];

export function createAuthority(): Authority {
  const inFolder = <T>(work: (folder: string) => T): T => {
    const folder = mkdtempSync(join(tmpdir(), "latchkey-ca-"));
    try {
      return work(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
  const openssl = (folder: string, ...more: string[]) => execFileSync("openssl", more, { cwd: folder, stdio: "pipe" });
  const read = (folder: string, file: string) => readFileSync(join(folder, file), "utf8");

  const [caKey, ca] = inFolder((folder) => {
    openssl(folder, "req", "-x509", ...newKey, "-keyout", "key", "-out", "cert", "-days", "2", "-subj", "/CN=Test CA");
    return [read(folder, "key"), read(folder, "cert")];
  });

  return {
    ca,
    sign: (name, days = 2) =>
      inFolder((folder) => {
        writeFileSync(join(folder, "ca.key"), caKey);
        writeFileSync(join(folder, "ca"), ca);
        writeFileSync(join(folder, "extensions"), `subjectAltName=${name}\n`);
        openssl(folder, "req", "-new", ...newKey, "-keyout", "key", "-out", "request", "-subj", "/CN=Test");
        const signed = ["-in", "request", "-CA", "ca", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "extensions"];
        openssl(folder, "x509", "-req", ...signed, "-out", "cert", "-days", String(days));
        return { key: read(folder, "key"), cert: read(folder, "cert") };
      }),
  };
}

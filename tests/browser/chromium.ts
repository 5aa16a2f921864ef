import { createHash, X509Certificate } from "node:crypto";
import { type Browser, chromium } from "playwright-core";

const flags = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

interface BrowserOptions {
  /** The addresses of names such as `*.example.org` besides localhost; no other name is found. */
  hosts?: Record<string, string>;
  /** A certificate that is trusted, whoever has signed it. */
  certificate?: string;
  debuggingPort?: number;
}

function keyOf(certificate: string): string {
  const key = new X509Certificate(certificate).publicKey.export({ type: "spki", format: "der" });
  return createHash("sha256").update(key).digest("base64");
}

export function startBrowser({ hosts = {}, certificate, debuggingPort }: BrowserOptions = {}): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const mapped = Object.entries(hosts).map(([host, address]) => `MAP ${host} ${address}`);
  const rules = [...mapped, "MAP * ~NOTFOUND", "EXCLUDE localhost"].join(", ");
  const args = [...flags, `--host-resolver-rules=${rules}`];
  if (certificate !== undefined) args.push(`--ignore-certificate-errors-spki-list=${keyOf(certificate)}`);
  if (debuggingPort !== undefined) args.push(`--remote-debugging-port=${debuggingPort}`);
  return chromium.launch({ executablePath, args });
}

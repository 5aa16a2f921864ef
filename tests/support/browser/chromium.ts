import { createHash, X509Certificate } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import type { Certificate } from "../certificates";
import { findProgram } from "../programs";

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
  debuggingPort?: number;
}

type Program = "chromium" | "chromium-headless-shell";

const pathOf = (program: Program) => findProgram(program) ?? program;

/** Blocks every cookie, as a visitor can in Chromium's settings; `sessionStorage` throws then. */
export async function startWithoutCookies(folder: string): Promise<BrowserContext> {
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  await mkdir(join(folder, "Default"), { recursive: true });
  await writeFile(join(folder, "Default", "Preferences"), JSON.stringify(preferences));
  return chromium.launchPersistentContext(folder, { executablePath: pathOf("chromium"), args: flags });
}

function start(program: Program, { hosts = {}, debuggingPort }: BrowserOptions = {}) {
  const mapped = Object.entries(hosts).map(([host, address]) => `MAP ${host} ${address}`);
  const rules = [...mapped, "MAP * ~NOTFOUND", "EXCLUDE localhost"].join(", ");
  const args = [...flags, `--host-resolver-rules=${rules}`];
  if (debuggingPort !== undefined) args.push(`--remote-debugging-port=${debuggingPort}`);
  return chromium.launch({ executablePath: pathOf(program), args });
}

/** Chromium without windows, which have pages of their own: 30 pages took 44 s of CPU with windows and 7 s without. */
export const startBrowser = (options?: BrowserOptions): Promise<Browser> => start("chromium-headless-shell", options);

/** Chromium as people have it. */
export const startChromium = (options?: BrowserOptions): Promise<Browser> => start("chromium", options);

const softwareKeys = "EnableBoundSessionCredentialsSoftwareKeysForManualTesting,DeviceBoundSessions:RefreshQuota/false";

/**
 * Binds sessions to this profile (Device Bound Session Credentials), without a limit of signatures; Chromium 156 over
 * https alone. It trusts the certificate as well as one of an authority.
 */
export function startBindingBrowser(folder: string, baseURL: string, { cert }: Certificate): Promise<BrowserContext> {
  const key = new X509Certificate(cert).publicKey.export({ type: "spki", format: "der" });
  const trusted = createHash("sha256").update(key).digest("base64");
  return chromium.launchPersistentContext(folder, {
    executablePath: pathOf("chromium"),
    baseURL,
    ignoreDefaultArgs: ["--disable-features", "--enable-features"],
    args: [
      ...flags,
      "--host-resolver-rules=MAP *.test 127.0.0.1",
      `--enable-features=${softwareKeys}`,
      `--ignore-certificate-errors-spki-list=${trusted}`,
    ],
  });
}

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright-core";

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

const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";

/** Blocks every cookie, as a visitor can in Chromium's settings; `sessionStorage` throws then. */
export async function startWithoutCookies(folder: string): Promise<BrowserContext> {
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  await mkdir(join(folder, "Default"), { recursive: true });
  await writeFile(join(folder, "Default", "Preferences"), JSON.stringify(preferences));
  return chromium.launchPersistentContext(folder, { executablePath, args: flags });
}

export function startBrowser({ hosts = {}, debuggingPort }: BrowserOptions = {}): Promise<Browser> {
  const mapped = Object.entries(hosts).map(([host, address]) => `MAP ${host} ${address}`);
  const rules = [...mapped, "MAP * ~NOTFOUND", "EXCLUDE localhost"].join(", ");
  const args = [...flags, `--host-resolver-rules=${rules}`];
  if (debuggingPort !== undefined) args.push(`--remote-debugging-port=${debuggingPort}`);
  return chromium.launch({ executablePath, args });
}

const softwareKeys = "EnableBoundSessionCredentialsSoftwareKeysForManualTesting,DeviceBoundSessions:RefreshQuota/false";

/** Binds sessions to this profile (Device Bound Session Credentials), without a limit of signatures. */
export const startBindingBrowser = (folder: string, baseURL: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, {
    executablePath: process.env.CHROMIUM_WITH_SOFTWARE_KEYS ?? executablePath,
    baseURL,
    ignoreDefaultArgs: ["--disable-features", "--enable-features"],
    args: [...flags, "--host-resolver-rules=MAP *.test 127.0.0.1", `--enable-features=${softwareKeys}`],
  });

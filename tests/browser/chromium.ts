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
  /** Names besides localhost that are this machine, such as `*.example.org`; no other name is found. */
  hosts?: string[];
  /** A port for other clients of the browser. */
  debuggingPort?: number;
}

/** The installed Chromium. */
export function startBrowser({ hosts = [], debuggingPort }: BrowserOptions = {}): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const rules = [...hosts.map((host) => `MAP ${host} 127.0.0.1`), "MAP * ~NOTFOUND", "EXCLUDE localhost"];
  const port = debuggingPort === undefined ? [] : [`--remote-debugging-port=${debuggingPort}`];
  return chromium.launch({ executablePath, args: [...flags, `--host-resolver-rules=${rules.join(", ")}`, ...port] });
}

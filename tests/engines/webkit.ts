import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../support/server";
import { until } from "../support/until";
import { controlPath, type Engine, fieldPath, keys, seconds, textPath } from "./tab";

/** Where Debian has it: outside PATH, in the folder of the library's version. */
function miniBrowser(): string {
  const libraries = "/usr/lib/x86_64-linux-gnu";
  const folder = readdirSync(libraries).find((name) => name.startsWith("webkit2gtk-4"));
  return join(libraries, folder ?? "webkit2gtk-4.1", "MiniBrowser");
}

const elementKey = "element-6066-11e4-a52e-4f735466cecf"; // W3C WebDriver, section 12.1

/** The commands of W3C WebDriver that the flows need, each with a time limit: WebKitGTK's driver may never answer. */
function sessionAt(url: string) {
  async function send<Value>(path: string, body?: object, method = body ? "POST" : "GET"): Promise<Value> {
    const answer = await fetch(`${url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(seconds * 1_000),
    });
    const { value } = (await answer.json()) as { value: Value & { error?: string; message?: string } };
    if (!answer.ok) throw new Error(`${path}: ${value.error} ${value.message}`);
    return value;
  }

  /** Waits until the command succeeds on the first element at the path. */
  async function onFirst(path: string, command: string, body?: object): Promise<void> {
    let last: unknown; // not there yet, or gone with the page before
    const done = async () => {
      const found = await send<Record<string, string>>("/element", { using: "xpath", value: path });
      await send(`/element/${found[elementKey]}${command}`, body);
      return true;
    };
    const failed = (error: unknown) => {
      last = error;
      return false;
    };
    await until(() => done().catch(failed), path, seconds * 1_000).catch((error) => {
      throw new Error(`${error} ${last}`);
    });
  }

  return { send, onFirst };
}

/** Ends a process and those that it has started. */
async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  process.kill(-child.pid);
  await ended;
}

/** Debian's WebKitGTK by its driver, on a screen that nobody sees. */
export const webkit: Engine = {
  async start(scripts) {
    const home = await mkdtemp(join(tmpdir(), "latchkey-webkit-"));
    const screen = spawn("Xvfb", ["-displayfd", "1", "-screen", "0", "1280x1024x24"], {
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [number] = (await once(screen.stdout, "data")) as [Buffer];
    const port = await freePort();
    const driver = spawn("dbus-run-session", ["--", "WebKitWebDriver", `--port=${port}`], {
      detached: true,
      stdio: "ignore",
      env: {
        ...process.env,
        HOME: home,
        DISPLAY: `:${number.toString().trim()}`,
        WEBKIT_DISABLE_COMPOSITING_MODE: "1",
        WEBKIT_DISABLE_DMABUF_RENDERER: "1",
        LIBGL_ALWAYS_SOFTWARE: "1",
      },
    });
    const root = sessionAt(`http://127.0.0.1:${port}`);
    const isUp = () =>
      root.send("/status").then(
        () => true,
        () => false,
      );
    await until(isUp, "WebKitWebDriver is up");
    const args = ["--automation", ...(scripts ? [] : ["--enable-javascript-markup=false"])];
    const options = { binary: miniBrowser(), args };
    const alwaysMatch = { browserName: "MiniBrowser", "webkitgtk:browserOptions": options };
    const { sessionId } = await root.send<{ sessionId: string }>("/session", { capabilities: { alwaysMatch } });
    const session = sessionAt(`http://127.0.0.1:${port}/session/${sessionId}`);
    return {
      open: (url) => session.send("/url", { url }),
      async type(field, text) {
        await session.onFirst(fieldPath(field), "/clear", {});
        await session.onFirst(fieldPath(field), "/value", { text });
      },
      press: (text) => session.onFirst(controlPath(text), "/click", {}),
      see: (text) => session.onFirst(textPath(text), "/text"),
      async key(name) {
        const actions = [
          { type: "keyDown", value: keys[name] },
          { type: "keyUp", value: keys[name] },
        ];
        await session.send("/actions", { actions: [{ type: "key", id: "keyboard", actions }] });
      },
      ask: (expression) => session.send("/execute/sync", { script: `return ${expression}`, args: [] }),
      url: () => session.send("/url"),
      async close() {
        await session.send("", undefined, "DELETE").catch(() => {}); // the processes end either way
        await end(driver);
        await end(screen);
        await rm(home, { recursive: true, force: true, maxRetries: 20 }); // a portal of the desktop is mounted in it until it ends
      },
    };
  },
};

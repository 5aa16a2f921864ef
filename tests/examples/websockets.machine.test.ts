import { once } from "node:events";
import net from "node:net";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startBrowser } from "../support/browser/chromium";
import { type Example, onOneHost, type ProxyName, register, startExample } from "./example";

describe.each<ProxyName>(["nginx", "caddy"])("behind %s", (proxy) => {
  let example: Example;
  let browser: Browser;

  beforeAll(async () => {
    browser = await startBrowser();
    example = await startExample(await onOneHost(proxy));
  });

  afterAll(async () => {
    await browser.close();
    await example.stop();
  });

  async function openSocket(cookie: string) {
    const { port, host } = new URL(example.url);
    const socket = net.connect(Number(port), "localhost").setEncoding("latin1");
    onTestFinished(() => void socket.destroy());
    const lines = ["GET /socket HTTP/1.1", `Host: ${host}`, `Cookie: ${cookie}`, `Origin: ${example.url}`];
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    socket.write(`${[...lines, ...upgrade, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="].join("\r\n")}\r\n\r\n`);
    const [head] = await once(socket, "data");
    return { socket, head: String(head) };
  }

  test("a logout closes the websocket of its session, and no other", { timeout: 30_000 }, async () => {
    const [ada, grace] = [await register(example, "ada@example.com"), await register(example, "grace@example.com")];
    const [first, second] = [await openSocket(ada.cookie), await openSocket(grace.cookie)];
    expect([first.head, second.head].map((head) => head.split("\r\n", 1)[0])).toEqual(
      Array(2).fill("HTTP/1.1 101 Switching Protocols"),
    );
    expect(first.head).toContain("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    const closed = once(first.socket, "data");
    await ada.post("/logout", {});
    expect((await closed)[0]).toBe("\x88\x02\x03\xf0");
    expect(second.socket.readyState).toBe("open");
  });

  test("the page closes its websocket when its session ends by its time", { timeout: 30_000 }, async () => {
    const { cookies } = await register(example, "mary@example.com");
    const context = await browser.newContext();
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: example.url })));
    const page = await context.newPage();
    await page.clock.install();
    await page.addInitScript(`WebSocket = class extends WebSocket {
      constructor(url) { super(url); this.addEventListener("open", () => { document.title = "Open"; }); }
    }`);
    const created = page.waitForEvent("websocket");
    await page.goto(`${example.url}/`);
    const socket = await created;
    await page.waitForFunction(() => document.title === "Open");
    await example.execute("delete from sessions");
    expect(socket.isClosed()).toBe(false);
    const closed = socket.waitForEvent("close");
    await page.clock.fastForward(14 * 86_400_000);
    await closed;
    await context.close();
  });

  test("without a session no websocket opens", async () => {
    expect((await openSocket("")).head).toMatch(/^HTTP\/1\.1 (?:302|401) /);
  });
});

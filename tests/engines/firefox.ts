import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer, { type ElementHandle } from "puppeteer-core";
import { findProgram } from "../support/programs";
import { until } from "../support/until";
import { controlPath, type Engine, fieldPath, seconds, textPath } from "./tab";

/** Debian's Firefox ESR by WebDriver BiDi. */
export const firefox: Engine = {
  async start(scripts) {
    const home = await mkdtemp(join(tmpdir(), "latchkey-firefox-")); // Firefox refuses the home of another user
    const browser = await puppeteer.launch({
      browser: "firefox",
      executablePath: findProgram("firefox-esr") ?? "firefox-esr",
      env: { ...process.env, HOME: home },
      extraPrefsFirefox: { "javascript.enabled": scripts },
      timeout: 60_000,
    });
    const page = await browser.newPage(); // the tab that is open at the start has no focus
    page.setDefaultTimeout(seconds * 1_000);
    // Not `page.locator` and `click`: both wait for callbacks, which do not come where scripts are off.
    const first = async (path: string) => {
      let found: ElementHandle<Element> | null = null;
      const isThere = async () => {
        const node = await page
          .evaluateHandle((xpath) => document.evaluate(xpath, document, null, 9, null).singleNodeValue, path)
          .catch(() => null); // the page is leaving
        found = (node?.asElement() as ElementHandle<Element> | null) ?? null;
        return found !== null;
      };
      await until(isThere, path, seconds * 1_000);
      return found as unknown as ElementHandle<HTMLInputElement>;
    };
    return {
      open: async (url) => void (await page.goto(url)),
      async type(field, text) {
        const input = await first(fieldPath(field));
        await input.focus();
        await input.evaluate((element) => element.select());
        await input.type(text);
      },
      async press(text) {
        const control = await first(controlPath(text));
        await control.evaluate((element) => element.scrollIntoView({ block: "center", behavior: "instant" }));
        const box = await control.boundingBox();
        if (!box) throw new Error(`${text} is not shown.`);
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
      },
      see: async (text) => void (await first(textPath(text))),
      key: (name) => page.keyboard.press(name),
      ask: <Value>(expression: string) => page.evaluate(expression) as Promise<Value>,
      url: async () => page.url(),
      async close() {
        await browser.close();
        await rm(home, { recursive: true, force: true });
      },
    };
  },
};

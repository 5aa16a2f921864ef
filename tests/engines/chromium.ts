import { startChromium } from "../support/browser/chromium";
import { controlPath, type Engine, fieldPath, seconds, textPath } from "./tab";

export const chromium: Engine = {
  async start(scripts) {
    const browser = await startChromium();
    const context = await browser.newContext({ javaScriptEnabled: scripts });
    context.setDefaultTimeout(seconds * 1_000);
    const page = await context.newPage();
    const first = (path: string) => page.locator(`xpath=${path}`).first();
    return {
      open: async (url) => void (await page.goto(url)),
      type: (field, text) => first(fieldPath(field)).fill(text),
      press: (text) => first(controlPath(text)).click(),
      see: (text) => first(textPath(text)).waitFor(),
      key: (name) => page.keyboard.press(name),
      ask: (expression) => page.evaluate(expression),
      url: async () => page.url(),
      close: () => browser.close(),
    };
  },
};

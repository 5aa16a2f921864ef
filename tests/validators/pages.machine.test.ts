import { execFileSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { CspEvaluator } from "csp_evaluator/dist/evaluator.js";
import { Severity } from "csp_evaluator/dist/finding.js";
import { CspParser } from "csp_evaluator/dist/parser.js";
import type { Response } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Language } from "#server/languages/languages";
import { startSite } from "../support/browser/site";
import { visitErrors, visitEveryPage } from "../support/browser/visits";

const site = startSite({ SUPPORT_EMAIL: "help@example.com", ACCESS_TOKENS: "on" });
const pages: { url: string; html: string; policy: string }[] = [];
const visited: string[] = [];

/** Visits every page as a browser without scripts, and keeps what the service answered. */
async function collect(language: Language): Promise<void> {
  const page = await site.visit({ javaScriptEnabled: false, locale: language });
  const answers: Promise<void>[] = [];
  const keep = async (response: Response) => {
    const policy = await response.headerValue("Content-Security-Policy");
    const html = policy === null ? "" : await response.text().catch(() => ""); // a redirect has no body
    if (html.startsWith("<!DOCTYPE html>")) pages.push({ url: response.url(), html, policy: policy ?? "" });
  };
  page.on("response", (response) => {
    if (response.url().startsWith(site.url())) answers.push(keep(response));
  });
  const see = async () => void visited.push(page.url());
  await visitEveryPage({ site, page, language, see });
  await visitErrors({ site, page, language, see });
  await Promise.all(answers);
}

beforeAll(async () => {
  for (const language of ["en", "ar"] as const) await collect(language);
}, 240_000);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "latchkey-pages-"));
  await Promise.all(pages.map(({ html }, at) => writeFile(join(folder, `${at}.html`), html)));
});

afterAll(() => rm(folder, { recursive: true }));

test("the pages of every flow are collected", () => {
  expect(pages.map(({ url }) => url)).toEqual(expect.arrayContaining(visited));
});

type Message = Record<"url" | "message" | "extract", string>;

test("the Nu Html Checker finds no error and no warning in a page", { timeout: 120_000 }, () => {
  const jar: string = createRequire(import.meta.url)("vnu-jar");
  const options = ["--format", "json", "--stdout", "--exit-zero-always", "--skip-non-html"];
  const report = JSON.parse(execFileSync("java", ["-jar", jar, ...options, folder], { encoding: "utf8" }));
  const problems = report.messages
    // React closes void elements with a slash, which means nothing in HTML.
    .filter(({ message }: Message) => !message.startsWith("Trailing slash on void elements"))
    .map(
      ({ url, message, extract }: Message) =>
        `${pages[Number.parseInt(basename(url), 10)]?.url}: ${message} ${extract}`,
    );
  expect(problems).toEqual([]);
});

/** The provider of the tests has no TLS. */
const overTls = (policy: string) => policy.replaceAll("http://localhost", "https://localhost");

test("Google's CSP evaluator finds no weakness in a page's policy", () => {
  const worst = pages.flatMap(({ url, policy }) =>
    new CspEvaluator(new CspParser(overTls(policy)).csp)
      .evaluate()
      .filter(({ severity }) => severity <= Severity.MEDIUM)
      .map(({ description }) => `${url}: ${description}`),
  );
  expect(worst).toEqual([]);
});

import { mkdtempSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { mergeProcessCovs } from "@bcoe/v8-coverage";
import v8 from "@vitest/coverage-v8";
import { V8CoverageProvider } from "@vitest/coverage-v8/dist/provider.js";
import astV8ToIstanbul from "ast-v8-to-istanbul";
import { parseAstAsync, type ReportContext, type Vitest } from "vitest/node";

type Functions = Parameters<typeof astV8ToIstanbul>[0]["coverage"]["functions"];

async function onSources(url: string, functions: Functions) {
  const file = fileURLToPath(url);
  const code = await readFile(file, "utf8");
  const sourceMap = JSON.parse(await readFile(`${file}.map`, "utf8"));
  sourceMap.sources = sourceMap.sources.map((source: string) => new URL(source, url).href);
  return astV8ToIstanbul({ code, sourceMap, ast: await parseAstAsync(code), coverage: { url, functions } });
}

class Provider extends V8CoverageProvider {
  readonly #folder = mkdtempSync(join(tmpdir(), "latchkey-coverage-"));

  override initialize(context: Vitest): void {
    super.initialize(context);
    process.env.COVERAGE_FOLDER = this.#folder;
  }

  override async generateCoverage(context: ReportContext) {
    const map = await super.generateCoverage(context);
    for (const { url, functions } of await this.#recorded()) map.merge(await onSources(url, functions));
    map.filter((file: string) => this.isIncluded(file));
    await rm(this.#folder, { recursive: true });
    return map;
  }

  async #recorded() {
    const files = await readdir(this.#folder);
    const read = files.map(async (file) => JSON.parse(await readFile(join(this.#folder, file), "utf8")));
    const { result } = mergeProcessCovs(await Promise.all(read));
    return result;
  }
}

export default { ...v8, getProvider: async () => new Provider() };

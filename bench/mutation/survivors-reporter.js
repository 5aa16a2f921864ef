import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

// Read by Stryker. Writes the score and the number of survivors by file into docs/mutation.md. The run prints the survivors.

const heading = "## The last run\n";

class SurvivorsReporter {
  onMutationTestReportReady({ files }) {
    const mutants = Object.entries(files).flatMap(([file, { mutants }]) =>
      mutants.map((mutant) => ({ file, ...mutant })),
    );
    const ofStatus = (...statuses) => mutants.filter(({ status }) => statuses.includes(status));
    const noticed = ofStatus("Killed", "Timeout").length;
    const survivors = ofStatus("Survived", "NoCoverage");
    const count = noticed + survivors.length;
    const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim();
    const score = ((100 * noticed) / count).toFixed(1);
    const rows = Object.keys(files)
      .map((name) => [name, survivors.filter(({ file }) => file === name).length])
      .filter(([, number]) => number > 0);
    const width = Math.max("File".length, ...rows.map(([name]) => name.length));
    const table = [["File", "Survivors"], ["-".repeat(width), "-".repeat(9)], ...rows].map(
      ([name, number]) => `| ${name.padEnd(width)} | ${String(number).padEnd(9)} |`,
    );
    const lines = [`Commit ${commit}: of ${count} mutants the tests notice ${noticed}, **${score} %**.`, "", ...table];
    const [introduction] = readFileSync("docs/mutation.md", "utf8").split(heading);
    writeFileSync("docs/mutation.md", [introduction + heading, ...lines, ""].join("\n"));
  }
}

export const strykerPlugins = [{ kind: "Reporter", name: "survivors", injectableClass: SurvivorsReporter }];

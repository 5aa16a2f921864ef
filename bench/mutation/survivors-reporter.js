import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

// Read by Stryker. Writes the score and the surviving mutants into docs/mutation.md.

const heading = "## The last run\n";

const shown = (text = "") => text.replace(/\s+/g, " ").replaceAll("`", "´").slice(0, 80) || "nothing";

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
    const lines = [
      `Commit ${commit}, ${Object.keys(files).length} files: of ${count} mutants the tests notice ${noticed}, **${score} %**.`,
      ...(survivors.length > 0 ? ["These survive:", ""] : []),
      ...survivors.map(
        ({ file, location, mutatorName, replacement }) =>
          `- ${file}, line ${location.start.line}: ${mutatorName}, \`${shown(replacement)}\``,
      ),
    ];
    const [introduction] = readFileSync("docs/mutation.md", "utf8").split(heading);
    writeFileSync("docs/mutation.md", [introduction + heading, ...lines, ""].join("\n"));
  }
}

export const strykerPlugins = [{ kind: "Reporter", name: "survivors", injectableClass: SurvivorsReporter }];

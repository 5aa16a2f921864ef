// Preloaded in each process that a test starts while coverage is measured (tests/support/coverage/processes.ts).
import { writeFileSync } from "node:fs";
import { Session } from "node:inspector";
import { join } from "node:path";

const build = new URL("../../../build/", import.meta.url).href;

const session = new Session();
session.connect();
session.post("Profiler.enable");
session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });

function write() {
  session.post("Profiler.takePreciseCoverage", (error, coverage) => {
    if (error) throw error;
    const own = coverage.result.filter(({ url }) => url.startsWith(build));
    for (const script of own) script.url = script.url.replace(/\?.*$/, ""); // remix-serve adds the time of the build
    const file = join(process.env.COVERAGE_FOLDER, `${process.pid}-${Date.now()}.json`);
    if (own.length > 0) writeFileSync(file, JSON.stringify({ result: own }));
  });
}

process.once("exit", write);
// In place of SIGKILL, which would lose the coverage.
process.once("SIGUSR2", () => {
  write();
  process.kill(process.pid, "SIGKILL");
});

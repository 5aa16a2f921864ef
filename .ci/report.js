import { readFileSync } from "node:fs";

// Prints each failure and the number of tests in Vitest's JSON reports.

const print = (line) => process.stdout.write(`${line}\n`);

const reports = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, "utf8")));
const files = reports.flatMap(({ testResults }) => testResults);

for (const { name, status, message, assertionResults } of files) {
  const failures = assertionResults.filter((test) => test.status === "failed");
  for (const test of failures) print(`\n${name}: ${test.fullName}\n${test.failureMessages[0]?.slice(0, 800)}`);
  if (status === "failed" && failures.length === 0) print(`\n${name}: ${message.slice(0, 800)}`);
}

const sum = (field) => reports.reduce((total, report) => total + report[field], 0);
print(`${sum("numPassedTests")} passed, ${sum("numFailedTests")} failed, ${sum("numPendingTests")} skipped`);

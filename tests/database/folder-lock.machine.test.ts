import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

const claiming = "tests/database/claiming-process.ts";

test("of ten processes that claim a data folder at once exactly one gets it, also after the owner was killed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-lock-"));
  const processes: ChildProcess[] = [];
  onTestFinished(async () => {
    for (const one of processes) one.kill("SIGKILL");
    await rm(folder, { recursive: true });
  });
  const start = async () => {
    const one = fork(claiming, [folder], { execArgv: ["--import", "tsx"] });
    await once(one, "message");
    processes.push(one);
  };
  const claim = async (one: ChildProcess) => {
    one.send("claim");
    const [outcome] = await once(one, "message");
    return outcome;
  };
  for (let round = 0; round < 10; round++) {
    while (processes.length < 10) await start();
    const outcomes = await Promise.all(processes.map(claim));
    const owners = processes.filter((_one, at) => outcomes[at] === "claimed");
    expect(owners).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome !== "claimed")).toEqual(
      Array(9).fill(`The data folder ${folder} is in use by another process.`),
    );
    for (const owner of owners) {
      processes.splice(processes.indexOf(owner), 1);
      owner.kill("SIGKILL");
      await once(owner, "exit");
    }
  }
});

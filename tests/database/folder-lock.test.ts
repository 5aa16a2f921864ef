import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { claimFolder } from "#server/database/folder-lock";
import { FolderInUse } from "#server/errors";

test("of ten that claim a data folder at once exactly one gets it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-lock-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (let round = 0; round < 3; round++) {
    const claims = await Promise.allSettled(Array.from({ length: 10 }, () => claimFolder(folder)));
    const [owner, ...others] = claims.sort((one, other) => one.status.localeCompare(other.status));
    expect(others).toEqual(Array(9).fill({ status: "rejected", reason: new FolderInUse(folder) }));
    if (owner?.status !== "fulfilled") throw new Error("Nobody got it.");
    await owner.value.lock.close();
  }
});

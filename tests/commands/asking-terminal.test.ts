import { mkdtemp, rm } from "node:fs/promises";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { askService, openCommandSocket } from "#server/commands/beside-service";
import { duringJob, log, logUnexpected } from "#server/log";
import { askingTerminal, context } from "#server/process/context";
import type { Terminal } from "#server/process/terminal";

function terminal(isTTY: boolean) {
  const [out, err] = [new PassThrough(), new PassThrough()];
  const used: Terminal = {
    out: Object.assign(out, { isTTY }),
    err: Object.assign(err, { isTTY }),
    readFile: () => Promise.reject(new Error("No file is read.")),
  };
  const atTerminal = <T>(work: () => T): T => context.run({ actor: "cli", terminal: used }, work);
  return { atTerminal, printed: () => String(err.read() ?? "") };
}

describe("the terminal that asked", () => {
  beforeEach(() => {
    log.level = "info";
    vi.spyOn(process.stdout, "write").mockReturnValue(true);
    onTestFinished(() => {
      log.level = "silent";
    });
  });

  test("sees an unexpected error", () => {
    const { atTerminal, printed } = terminal(true);
    atTerminal(() => logUnexpected(new TypeError("secret")));
    expect(JSON.parse(printed())).toMatchObject({ level: 50, error: "TypeError", msg: "Unexpected error." });
  });

  test("sees no other line", () => {
    const { atTerminal, printed } = terminal(true);
    atTerminal(() => log.warn("Something else."));
    expect(printed()).toBe("");
  });

  test("is not that of a job which the command has woken", () => {
    const { atTerminal } = terminal(false);
    const during = atTerminal(() => duringJob("1", askingTerminal));
    expect(during).toBeUndefined();
  });
});

test("a service that ends during a command is named", async () => {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-data-"));
  const service = net.createServer((socket) => socket.once("data", () => socket.destroy()));
  await new Promise<void>((resolve) => service.listen(join(folder, ".commands"), resolve));
  onTestFinished(async () => {
    service.close();
    await rm(folder, { recursive: true });
  });
  const { atTerminal, printed } = terminal(true);
  expect(await atTerminal(() => askService(folder, ["user", "list"]))).toBe(1);
  expect(printed()).toBe("The service ended during the command, which may have done its work.\n");
});

test("a folder that takes no socket stops no start", async () => {
  const close = await openCommandSocket("/dev/null", () => Promise.resolve(0));
  expect(close()).toBeUndefined();
});

import { execFileSync } from "node:child_process";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";

test("examples/run names a port that is taken", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.once("error", () => resolve()).listen(8080, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const run = () => execFileSync("bash", ["examples/run", "nginx"], { encoding: "utf8", stdio: "pipe" });
  expect(run).toThrow(
    expect.objectContaining({
      status: 1,
      stdout: "",
      stderr: "Port 8080 is in use: end what listens there, then try again.\n",
    }),
  );
});

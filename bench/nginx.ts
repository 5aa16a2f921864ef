import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isRefused } from "../tests/support/connections";
import { findProgram } from "../tests/support/programs";
import { freePort, watchProcess } from "../tests/support/server";
import { until } from "../tests/support/until";
import type { Program } from "./processes";

/** Latchkey behind nginx, with the `examples/nginx.conf` of its folder. */
export async function behindNginx(latchkey: Program, folder = "."): Promise<Program> {
  const port = await freePort();
  const home = await mkdtemp(join(tmpdir(), "bench-nginx-"));
  const file = join(home, "nginx.conf");
  const example = await readFile(join(folder, "examples/nginx.conf"), "utf8");
  const configuration = example
    .replaceAll(":8080", `:${port}`)
    .replaceAll(":3000", `:${new URL(latchkey.url).port}`)
    // nginx closes a connection after 1,000 requests. autocannon loses the next one.
    .replace("access_log off;", "access_log off; keepalive_requests 1000000;");
  await writeFile(file, configuration);
  const nginx = watchProcess(spawn(findProgram("nginx") ?? "", ["-e", "stderr", "-p", home, "-c", file]));
  await until(async () => !(await isRefused(port)), "nginx accepts connections");
  return {
    ...latchkey,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      await nginx.stop();
      await rm(home, { recursive: true });
      return latchkey.stop();
    },
  };
}

import { execFileSync, spawn } from "node:child_process";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { freePort, watchProcess } from "../support/server";
import { until } from "../support/until";

async function copyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-readme-"));
  const files = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(Boolean);
  const copied = [...new Set(files.map((file) => file.split("/", 1)[0] ?? ""))];
  for (const name of copied) await cp(name, join(folder, name), { recursive: true });
  await symlink(resolve("node_modules"), join(folder, "node_modules"));
  return folder;
}

const answers = (url: string) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

test.concurrent.each([
  { command: "npm start", pages: ["/login"], says: /Latchkey is at http/ },
  { command: "npm run dev", pages: ["/login", "/dev/mails"], says: /Latchkey is at http/ },
  {
    command: "npm run demo",
    pages: ["/login", "http://localhost:4000/.well-known/openid-configuration"],
    says: /\nOpen http:\S+\/login, choose "Sign in with single sign-on", and type any name and any password\.\n/,
  },
])("README: $command starts Latchkey", async ({ command, pages, says }) => {
  const folder = await copyFolder();
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), DATABASE_URL: `pglite:${join(folder, "data", command)}` };
  const shell = ["-u", "NODE_ENV", "sh", "-c", `exec ${command}`];
  const program = spawn("env", shell, { cwd: folder, env });
  const { output, waitFor, ended } = watchProcess(program);
  try {
    for (const page of pages) {
      const url = new URL(page, `http://localhost:${port}`).href;
      await until(() => answers(url), `${command} answers ${url}`, 90_000);
    }
    await waitFor(says);
    expect(output()).not.toMatch(/\bWARNING|deprecated/);
    expect(program.exitCode).toBeNull();
  } finally {
    program.kill("SIGTERM"); // npm alone, which passes it on
    await ended; // with the last process that holds its output
    await rm(folder, { recursive: true });
  }
});

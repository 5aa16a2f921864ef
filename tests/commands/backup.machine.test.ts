import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { importLines } from "../support/accounts";
import { nodeFlags } from "../support/child-processes";
import { commandHere } from "../support/command";
import { type RunningServer, startServer } from "../support/server";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";

let home: string;

/** With keys that a backup has, too. */
const settingsOf = (name: string) => ({
  DATABASE_URL: `pglite:${join(home, name)}`,
  IDENTITY_TOKENS: "on",
  IDENTITY_KEY: Buffer.alloc(32, 1).toString("base64"),
  TRUST_PROXY: "true",
});

let server: RunningServer;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "latchkey-backup-"));
  server = await startServer(settingsOf("source"));
  return async () => {
    await server.stop();
    await rm(home, { recursive: true });
  };
});

async function backUp(file: string): Promise<void> {
  expect(await commandHere(["database", "backup", file], settingsOf("source"))).toMatchObject({ status: 0 });
}

function spawnCommand(folder: string, words: string[], program = [process.execPath]): ChildProcess {
  const [file = "", ...args] = [...program, ...nodeFlags, "server/cli.js", "database", ...words];
  return spawn(file, args, { env: { ...process.env, NODE_ENV: "production", ...settingsOf(folder) } });
}

async function killWhen(child: ChildProcess, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const closed = once(child, "close");
  await until(isTrue, "the command has begun its work");
  child.kill("SIGKILL");
  await closed;
}

test("a backup that the disk does not take leaves no file", async () => {
  const limited = ["sh", "-c", 'ulimit -f 2000 && exec "$0" "$@"', process.execPath];
  const child = spawnCommand("source", ["backup", join(home, "limited")], limited);
  expect(await once(child, "close")).toEqual([1, null]);
  expect((await readdir(home)).filter((name) => name.startsWith("limited"))).toEqual([]);
});

test("a backup that is killed leaves no file of the name, and the next one is made", async () => {
  const file = join(home, "killed");
  const child = spawnCommand("source", ["backup", file]);
  await killWhen(child, async () => (await readdir(home)).some((name) => name.startsWith(`killed.${child.pid}`)));
  expect(existsSync(file)).toBe(false);
  await until(() => !existsSync(join(home, "source", ".unfinished")), "the service has removed its copy");
  await backUp(file);
});

test("a backup that is stopped leaves no file", async () => {
  const child = spawnCommand("source", ["backup", join(home, "stopped")]);
  const files = async () => (await readdir(home)).filter((name) => name.startsWith("stopped"));
  await until(async () => (await files()).length > 0, "the command has begun its work");
  child.kill("SIGINT");
  expect(await once(child, "close")).toEqual([1, null]);
  expect(await files()).toEqual([]);
  await until(() => !existsSync(join(home, "source", ".unfinished")), "the service has removed its copy");
});

test("a restore that is killed leaves an empty folder, which the next one fills", async () => {
  const file = join(home, "whole");
  await backUp(file);
  const child = spawnCommand("restored", ["restore", "-"]);
  child.stdin?.on("error", () => {}); // of the end of the process
  child.stdin?.write((await readFile(file)).subarray(0, 1_000_000));
  await killWhen(child, () => existsSync(join(home, "restored", ".unfinished", "base")));
  expect(existsSync(join(home, "restored", "pglite"))).toBe(false);
  expect(await commandHere(["database", "restore", file], settingsOf("restored"))).toMatchObject({ status: 0 });
});

describe("a backup to standard output during twenty sign-ins a second", () => {
  const emails = Array.from({ length: 10 }, (_, n) => `${n}@example.com`);
  const signedIn: { visitor: Visitor; answered: Date }[] = [];
  let link: Record<string, string>;
  let madeAt: Date;
  let restored: RunningServer;

  async function signIn(number: number): Promise<void> {
    const visitor = new Visitor(server.url);
    const email = emails[number % emails.length] as string;
    expect(await visitor.logIn(email)).toMatchObject({ status: 302 });
    signedIn.push({ visitor, answered: new Date() });
  }

  async function printBackup(path: string): Promise<void> {
    const file = await open(path, "w");
    const words = [...nodeFlags, "server/cli.js", "database", "backup", "-"];
    const env = { ...process.env, NODE_ENV: "production" as const, ...settingsOf("source") };
    const child = spawn(process.execPath, words, { env, stdio: ["ignore", file.fd, "inherit"] });
    expect(await once(child, "close")).toEqual([0, null]);
    await file.close();
  }

  async function backUpDuringSignIns(file: string): Promise<void> {
    let isMade = false;
    const backing = until(() => signedIn.length >= 10, "sign-ins are answered").then(() => printBackup(file));
    const done = backing.finally(() => {
      isMade = true;
    });
    const signIns: Promise<void>[] = [];
    // A slow machine signs in more slowly: more open attempts for one address than its limit are refused.
    const hasRoom = () => !isMade && signIns.length - signedIn.length < emails.length;
    const each = setInterval(() => hasRoom() && signIns.push(signIn(signIns.length)), 50);
    await done;
    clearInterval(each);
    await Promise.all(signIns);
  }

  beforeAll(async () => {
    const accounts = join(home, "accounts");
    await writeFile(accounts, await importLines(emails));
    expect(await commandHere(["user", "import", accounts], settingsOf("source"))).toMatchObject({ status: 0 });
    await new Visitor(server.url).askForReset(emails[0]);
    const mail = await server.mail(emails[0] as string, "Reset your password");
    link = Object.fromEntries(mail.link?.searchParams ?? []);
    const file = join(home, "printed");
    await backUpDuringSignIns(file);
    const [, made = ""] = /"madeAt":"(.+?)"/.exec((await readFile(file)).subarray(-4096).toString()) ?? [];
    madeAt = new Date(made);
    const settings = settingsOf("as-it-was");
    expect(await commandHere(["database", "restore", file, "--as-it-was"], settings)).toMatchObject({ status: 0 });
    restored = await startServer(settings);
    return async () => void (await restored.stop());
  });

  /** Whether the restored service knows the session. */
  async function isSignedIn({ cookies }: Visitor): Promise<boolean> {
    const elsewhere = new Visitor(restored.url);
    for (const [name, value] of cookies) elsewhere.cookies.set(name, value);
    return (await elsewhere.get("/dashboard")).status === 200;
  }

  const publishedKeys = async ({ url }: RunningServer) => (await fetch(`${url}/.well-known/jwks.json`)).json();

  test("has every session that was answered before it", async () => {
    const before = signedIn.filter(({ answered }) => answered <= madeAt);
    expect(before.length).toBeGreaterThanOrEqual(10);
    for (const { visitor } of before) expect(await isSignedIn(visitor)).toBe(true);
  });

  test("has every account, its links and the keys", async () => {
    for (const email of emails) expect(await new Visitor(restored.url).logIn(email)).toMatchObject({ status: 302 });
    expect((await new Visitor(restored.url).reset(link)).status).toBe(302);
    expect(await publishedKeys(restored)).toEqual(await publishedKeys(server));
  });
});

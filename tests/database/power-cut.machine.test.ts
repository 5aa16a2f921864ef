import { randomInt } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { deserialize } from "node:v8";
import { PGlite } from "@electric-sql/pglite";
import { amcheck } from "@electric-sql/pglite/contrib/amcheck";
import { Migrator } from "@mikro-orm/migrations";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Argon2id } from "#server/crypto/oslo";
import { migrate } from "#server/database/migrate";
import { migrationNames, migrationOptions } from "#server/database/migrations/index";
import { openDatabase } from "#server/database/orm";
import { goodPassword, newPassword, twice } from "../support/passwords";
import { type Change, Disk, type Fate } from "../support/power-cut/disk";
import { json, type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider";
import { type RunningServer, spawnServer } from "../support/server";
import { sha256 } from "../support/sha256";
import { Visitor } from "../support/visitor";

const seed = Number(process.env.POWER_CUT_SEED ?? randomInt(2 ** 31));

/** Mulberry32. */
function randomFrom(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const random = randomFrom(seed);

/** A password, "provider" for an account without one, "older" for one of an older release, "none" without an account. */
type State = string;

/** What becomes of an account. Positions are those of the record: when a request was sent, and when it was answered. */
interface Step {
  email: string;
  sent: number;
  answered: number;
  state: State;
  session?: string | undefined;
}

interface Recording {
  folder: string;
  disk: Disk;
  changes: { change: Change; end: number }[];
  steps: Step[];
  /** When the service had started. */
  started: number;
}

let home: string;
let provider: ScriptedProvider;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "latchkey-power-cut-"));
  provider = await startScriptedProvider();
});

afterAll(async () => {
  await provider.stop();
  await rm(home, { recursive: true, force: true });
});

async function readChanges(record: string): Promise<Recording["changes"]> {
  const bytes = await readFile(record);
  const changes: Recording["changes"] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    changes.push({ change: deserialize(bytes.subarray(at + 4, end)), end });
    at = end;
  }
  return changes;
}

type Track = (
  email: string,
  state: State,
  request: () => Promise<{ status: number }>,
  visitor?: Visitor,
) => Promise<void>;

/** Records what a service does to the files of the folder, from its start to its end. */
async function recordService(folder: string, use: (server: RunningServer, track: Track) => Promise<void>) {
  const disk = new Disk(folder);
  const record = `${folder}.record`;
  const position = async () => (await stat(record)).size;
  const preload = fileURLToPath(new URL("../support/power-cut/record-writes.js", import.meta.url));
  const server = await spawnServer({
    ...provider.settings.google,
    DATABASE_URL: `pglite:${folder}`,
    TRUST_PROXY: "true",
    NODE_OPTIONS: `--import "${preload}"`,
    RECORDED_FOLDER: folder,
    RECORD: record,
  });
  await server.waitFor(/\[remix-serve\] http/);
  const started = await position();
  const steps: Step[] = [];
  await use(server, async (email, state, request, visitor) => {
    const sent = await position();
    expect(await request()).toMatchObject({ status: 302 });
    steps.push({ email, sent, answered: await position(), state, session: visitor?.cookies.get("session") });
  });
  await server.stop();
  return { folder, disk, changes: await readChanges(record), steps, started };
}

async function changeAccount(server: RunningServer, track: Track, number: number): Promise<void> {
  const email = `${number}@example.com`;
  const visitor = new Visitor(server.url);
  if (number % 4 === 3) {
    const profile = { sub: `sub-${number}`, email, email_verified: true, name: "Ada" };
    provider.answerWith({ profile: json(profile) });
    return track(email, "provider", () => visitor.signInExternally(), visitor);
  }
  await track(email, goodPassword, () => visitor.register(server, email));
  if (number % 4 === 0) {
    await visitor.askForReset(email);
    const { link } = await server.mail(email, "Reset your password");
    const fields = Object.fromEntries(link?.searchParams ?? []);
    await track(email, newPassword, () => visitor.reset(fields));
    expect(await visitor.reset(fields, "a password of a spent link")).toMatchObject({ status: 422 });
  } else if (number % 4 === 1) {
    const form = { intent: "change-password", currentPassword: goodPassword, ...twice(newPassword) };
    await track(email, newPassword, () => visitor.post("/dashboard", form));
    const again = { ...form, ...twice("a password that is refused") };
    expect(await visitor.post("/dashboard", again)).toMatchObject({ status: 422 });
  } else {
    await track(email, "none", () => visitor.post("/dashboard", { intent: "delete-account", email }));
  }
}

const olderAccounts = Array.from({ length: 50 }, (_, n) => `older-${n}@example.com`);

/** Tables and accounts of an older release. */
async function makeOlderFolder(folder: string): Promise<void> {
  const database = await openDatabase(`pglite:${folder}`);
  database.orm.config.set("migrations", { ...database.orm.config.get("migrations"), ...(await migrationOptions()) });
  const migrator = new Migrator(database.orm.em);
  for (const name of migrationNames.slice(0, 12)) await migrator.up(name);
  const em = database.orm.em.fork();
  const insert = "insert into users (id, email, password_hash, created_at) values (gen_random_uuid(), ?, 'x', now())";
  for (const email of olderAccounts) await em.execute(insert, [email]);
  await database.close();
}

function cutsBetween(changes: Recording["changes"], from: number, to: number, count: number): number[] {
  const within = changes.filter(({ end }) => end > from && end <= to).map(({ end }) => end);
  return Array.from({ length: count }, () => within[Math.floor(random() * within.length)] as number);
}

const fates: Fate[] = ["lost", "kept", "half kept"];

const verified = new Map<string, boolean>();

async function verifies(hash: string, password: string): Promise<boolean> {
  const key = `${hash} ${password}`;
  if (!verified.has(key)) verified.set(key, await new Argon2id().verify(hash, password));
  return verified.get(key) as boolean;
}

interface Found {
  email: string;
  password_hash: string | null;
}

async function isIn(state: State, user: Found | undefined): Promise<boolean> {
  if (state === "none") return user === undefined;
  if (state === "older") return user?.password_hash === "x";
  if (state === "provider") return user?.password_hash === null;
  return Boolean(user?.password_hash) && verifies(user?.password_hash as string, state);
}

/** What an account may be when the power goes: what was answered last, or what was sent since. */
function possible(steps: Step[], moment: number): State[] {
  const answered = steps.filter((step) => step.answered <= moment).at(-1)?.state ?? "none";
  return [
    answered,
    ...steps.filter(({ sent, answered }) => sent <= moment && answered > moment).map(({ state }) => state),
  ];
}

async function findDamage(folder: string): Promise<unknown[]> {
  const database = await PGlite.create(join(folder, "pglite"), { extensions: { amcheck } });
  await database.exec("create extension if not exists amcheck");
  await database.exec(`select bt_index_check(c.oid, true) from pg_class c join pg_am a on a.oid = relam
    where amname = 'btree' and relkind = 'i'`);
  const { rows } = await database.query(`select c.oid::regclass::text as name, msg
    from pg_class c, verify_heapam(c.oid) where relkind in ('r', 't', 'm')`);
  await database.close();
  return rows;
}

/** Starts on what the disk holds after the cut. @returns what is not as it was answered */
async function findLosses({ steps }: Recording, moment: number, folder: string): Promise<unknown[]> {
  const database = await openDatabase(`pglite:${folder}`);
  await migrate(database.orm);
  const em = database.orm.em.fork();
  const users = await em.execute<Found[]>("select email, password_hash from users");
  const sessions = await em.execute<{ token_hash: string }[]>("select token_hash from sessions");
  await database.close();
  const losses: unknown[] = [];
  for (const email of new Set(steps.map((step) => step.email))) {
    const ofAccount = steps.filter((step) => step.email === email);
    const user = users.find((other) => other.email === email);
    const may = possible(ofAccount, moment);
    const matches = await Promise.all(may.map((state) => isIn(state, user)));
    if (!matches.includes(true)) losses.push({ email, may });
    const cookie = ofAccount.find(({ session, answered }) => session && answered <= moment)?.session;
    if (cookie && !sessions.some(({ token_hash }) => token_hash === sha256(cookie))) losses.push({ email, cookie });
  }
  return losses;
}

async function expectNoLoss(recording: Recording, moments: number[]): Promise<void> {
  const { disk, changes, folder } = recording;
  let applied = 0;
  for (const [index, moment] of moments.sort((a, b) => a - b).entries()) {
    while ((changes[applied]?.end ?? Number.POSITIVE_INFINITY) <= moment) disk.apply(changes[applied++]!.change);
    const fate = fates[index % fates.length] as Fate;
    const after = join(home, "after");
    disk.cut(fate, random, folder, after);
    const losses = await findLosses(recording, moment, after);
    const damage = await findDamage(after);
    expect({ moment, fate, losses, damage }).toEqual({ moment, fate, losses: [], damage: [] });
    await rm(after, { recursive: true });
  }
}

describe(`after a cut of the power, with POWER_CUT_SEED=${seed}`, () => {
  test("during a first start, the next start begins anew or goes on", async () => {
    const folder = join(home, "first");
    await mkdir(folder);
    const recording = await recordService(folder, async () => {});
    const { changes, started } = recording;
    const whole = changes.find(({ change }) => change.kind === "rename" && change.path.endsWith(".unfinished"))!.end;
    await expectNoLoss(recording, [...cutsBetween(changes, 0, whole, 4), ...cutsBetween(changes, whole, started, 6)]);
  }, 900_000);

  test("during migrations and while accounts are made, changed and deleted, all that was answered is there", async () => {
    const folder = join(home, "older");
    await mkdir(folder);
    await makeOlderFolder(folder);
    const recording = await recordService(folder, async (server, track) => {
      for (let number = 0; number < 32; number++) await changeAccount(server, track, number);
    });
    const { changes, started, steps } = recording;
    for (const email of olderAccounts) steps.push({ email, sent: -1, answered: -1, state: "older" });
    const end = changes.at(-1)?.end as number;
    await expectNoLoss(recording, [...cutsBetween(changes, 0, started, 10), ...cutsBetween(changes, started, end, 32)]);
  }, 900_000);
});

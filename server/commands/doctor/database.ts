import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { type FilterQuery, raw } from "@mikro-orm/core";
import { linkedForGroups } from "../../accounts/groups/membership";
import { usable } from "../../accounts/passkeys/relying-party";
import { notLinked } from "../../accounts/provider/provider-identities";
import { hasPasskey, noWayIn } from "../../accounts/users/ways-in";
import { callText } from "../../calls/json-client";
import { config } from "../../config";
import { folderOf, hasNoDatabase } from "../../database/embedded";
import { Passkey, User } from "../../database/entities";
import { hasNewerMigration, missingMigrations, serverVersion } from "../../database/migrate";
import { migrationNames } from "../../database/migrations";
import { type Database, openDatabase } from "../../database/orm";
import { FolderInUse, StartError } from "../../errors";
import { canSign } from "../../features/application/signing-keys";
import { storeProbe } from "../../features/operator/probe";
import { isPrepared } from "../../features/operator/schema";
import { context, terminal } from "../../process/context";
import { JobQueue } from "../../queue/job-queue";
import { urlHost } from "../../settings/formats";
import { askService } from "../beside-service";
import { withDatabase } from "../open-database";
import { CommandError } from "../program";
import { answerOf, type Check, checksOf, type Findings, findingOf } from "./check";
import { checkEmbedded } from "./embedded";

const database = checksOf("database");
const migrations = checksOf("migrations");
const clock = checksOf("clock");
const identity = checksOf("identity");
const accounts = checksOf("accounts");
const passkeys = checksOf("passkeys");

const largestSkew = 5_000; // ms

const unopened: Findings = [
  [/unsupported startup parameter/, "{reason}", "set DATABASE_DIRECT_URL: DATABASE_URL leads to a pooler"],
  [/password|authentication|role/, "{reason}", "correct the user and the password in DATABASE_URL"],
  [/database ".*" does not exist/, "{reason}", "create the database, or correct its name in DATABASE_URL"],
  [/\(TMPDIR\)/, "{reason}", "let the service's user write there, or set TMPDIR to another folder"],
  [/cannot be (?:opened|written)/, "{reason}", "check the folder of DATABASE_URL, its owner and the disk"],
  [/^/, "{reason}", "start PostgreSQL, or correct host and port in DATABASE_URL"],
];

export async function checkDatabase(databaseUrl: string, directUrl: string | null): Promise<Check[]> {
  const folder = folderOf(databaseUrl);
  if (folder !== null && hasNoDatabase(folder)) {
    return [database.warn(`there is no database in ${folder}`, "the first start of the service makes it")];
  }
  let opened: Database;
  try {
    opened = await openDatabase(databaseUrl, directUrl);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const reason = error.message.replace(/\.$/, "");
    if (error instanceof FolderInUse) return (await askHolder<Check[]>(error.folder)) ?? askReadiness(reason);
    return [database.fail(...findingOf(unopened, reason, { reason }))];
  }
  try {
    const checks = await examineDatabase(opened);
    if (directUrl === null) return checks;
    const direct = (await checkDatabase(directUrl, null)).slice(0, 1);
    return [...checks, await checkStatementLimit(opened), ...direct];
  } finally {
    await opened.close();
  }
}

/** Asks the service where it listens, without the proxy, whether it is ready. */
async function askReadiness(reason: string): Promise<Check[]> {
  const { identityKey, passwords, identityProvider } = config();
  const hasAccountChecks = !passwords.on || identityProvider?.groupsClaim;
  const skipped = [database, ...(identityKey ? [identity] : []), ...(hasAccountChecks ? [accounts] : [])];
  const { host, port } = config();
  const origin = `http://${urlHost(host ?? "localhost")}:${port}`;
  const url = `${origin}/readyz`;
  const cause = await answerOf(callText(url, { method: "GET" }).then(() => null));
  const check =
    cause === null
      ? migrations.ok(`all applied: ${url} says ready`)
      : migrations.fail(`${url} does not say ready (${cause})`, "see the log of the service, and HOST and PORT");
  return [...skipped.map(({ skip }) => skip(reason)), check];
}

export async function examineDatabase(opened: Database): Promise<Check[]> {
  const checks = [await checkVersion(opened), await checkMigrations(opened)];
  const isMigrated = checks.every(({ status }) => status !== "fail");
  if (isMigrated && config().identityKey) checks.push(await checkSigningKey(opened));
  if (isMigrated && !config().passwords.on) checks.push(...(await checkWaysIn(opened)));
  if (isMigrated) checks.push(...(await checkPasskeyNames(opened)));
  if (isMigrated && config().identityProvider?.groupsClaim) checks.push(await checkGroups(opened));
  const folder = folderOf(config().databaseUrl);
  checks.push(await (folder === null ? checkClock(opened) : checkEmbedded(opened, folder)));
  return checks;
}

async function checkVersion({ orm, connection }: Database): Promise<Check> {
  const { name, tooOld } = await serverVersion(orm.em.fork());
  if (tooOld) return database.fail(`PostgreSQL ${name} is too old`, "upgrade the server to PostgreSQL 15 or newer");
  return database.ok(`PostgreSQL ${name}${connection.kind === "embedded" ? ", embedded" : ""}`);
}

async function checkMigrations(opened: Database): Promise<Check> {
  const em = opened.orm.em.fork();
  const run = "run `latchkey database migrate`, or start the service";
  const missing = await missingMigrations(em).catch(() => migrationNames);
  if (missing.length > 0) {
    return migrations.fail(`${missing.length} of ${migrationNames.length} are missing: ${missing.join(", ")}`, run);
  }
  if (!(await isPrepared(opened, new JobQueue(opened.orm)))) {
    return migrations.fail("the tables of the job queue are missing", run);
  }
  if (await hasNewerMigration(em)) {
    const fix = "use the command line of the version that the service runs";
    return migrations.warn("a newer version has migrated it", fix);
  }
  return migrations.ok(`all ${migrationNames.length} applied`);
}

async function checkSigningKey({ orm }: Database): Promise<Check> {
  if ((await canSign(orm.em.fork())) !== false) return identity.ok("IDENTITY_KEY fits the signing key");
  const fix = "restore the one that encrypted it, or run `latchkey keys rotate` and restart the service";
  return identity.fail("IDENTITY_KEY does not decrypt the signing key", fix);
}

async function checkWaysIn({ orm }: Database): Promise<Check[]> {
  const check = async (where: FilterQuery<User>, option: string, found: string) => {
    const count = await orm.em.fork().count(User, where);
    const all = `with PASSWORDS=off, ${count} ${found}`;
    return count > 0 ? accounts.warn(all, `\`latchkey user list --${option}\` names them`) : accounts.ok(all);
  };
  return [
    await check(noWayIn(), "no-way-in", "have no way in before they sign in at the provider with their address"),
    await check(
      { suspendedAt: null, ...notLinked() },
      "unlinked",
      "are not connected to the provider, whose logout ends no session of theirs",
    ),
  ];
}

/** Passkeys that were made for another name, after a change of `APP_URL` or `PASSKEY_RP_ID`. */
async function checkPasskeyNames({ orm }: Database): Promise<Check[]> {
  const em = orm.em.fork();
  const count = (await em.count(Passkey)) - (await em.count(Passkey, usable()));
  if (count === 0) return [];
  const stranded = await em.count(User, { ...noWayIn(), ...hasPasskey() });
  const found = `made for another name, for which they sign nobody in: ${count}; accounts with nothing else: ${stranded}`;
  return [passkeys.warn(found, "let their owners add one at this name (docs/moving.md)")];
}

/** How many accounts the claim of `IDP_GROUPS_CLAIM` has reached. */
async function checkGroups({ orm }: Database): Promise<Check> {
  const em = orm.em.fork();
  const linked = await em.count(User, linkedForGroups());
  const without = await em.count(User, { ...linkedForGroups(), [raw("cardinality(idp_groups)")]: 0 });
  const found = `connected accounts: ${linked - without} with groups from the provider, ${without} without`;
  if (linked === 0 || without < linked) return accounts.ok(found);
  return accounts.warn(found, "let the provider's profile answer (userinfo) have the claim of IDP_GROUPS_CLAIM");
}

async function checkClock({ orm }: Database): Promise<Check> {
  const before = Date.now();
  const now = "select (extract(epoch from clock_timestamp()) * 1000)::bigint::text as now";
  const [row] = await orm.em.fork().execute<{ now: string }[]>(now);
  const skew = Number(row?.now) - (before + Date.now()) / 2;
  const seconds = Math.round(Math.abs(skew) / 1000);
  if (Math.abs(skew) <= largestSkew) return clock.ok(`differs from the database's by ${seconds} s`);
  return clock.fail(
    `the database's is ${seconds} s ${skew > 0 ? "ahead" : "behind"}: links and sessions end at the wrong time`,
    "synchronise both machines' clocks by NTP, e.g. with chrony",
  );
}

/** After a 503, the statement of the request must not go on in the database. */
async function checkStatementLimit({ orm }: Database): Promise<Check> {
  const [row] = await orm.em
    .fork()
    .execute<{ limit: string }[]>("select current_setting('statement_timeout') as limit");
  if (row?.limit !== "0") return database.ok(`statements through the pooler end after ${row?.limit}`);
  return database.warn("statements through the pooler have no time limit", "alter role … set statement_timeout = '4s'");
}

/** Stores the secret of a probe, in an embedded database through the service that holds it. */
export async function mintProbe(): Promise<string | { unknown: string }> {
  try {
    return await withDatabase(({ orm }) => storeProbe(orm.em.fork()));
  } catch (error) {
    const holder = error instanceof FolderInUse ? await askHolder<string>(error.folder, "--outside") : null;
    if (holder !== null) return holder;
    if (error instanceof FolderInUse) return { unknown: "the service of another user or release holds the database" };
    if (error instanceof StartError || error instanceof CommandError) return { unknown: error.message };
    throw error;
  }
}

/** Lets the service that holds the embedded database run the doctor's part. @returns `null` if it does not answer */
async function askHolder<T>(folder: string, ...options: string[]): Promise<T | null> {
  const out = new PassThrough();
  const printed = text(out);
  const asking = { actor: "cli" as const, terminal: { ...terminal(), out, err: out } };
  const status = await context.run(asking, () => askService(folder, ["doctor", ...options]));
  out.end();
  return status === 0 ? JSON.parse(await printed) : printed.then(() => null);
}

import { type FilterQuery, raw } from "@mikro-orm/core";
import { linkedForGroups, notLinked } from "../../accounts/provider/provider-identities";
import { noWayIn } from "../../accounts/users/ways-in";
import { callJson, callText } from "../../calls/json-client";
import { config } from "../../config";
import { folderOf, hasNoDatabase } from "../../database/embedded";
import { User } from "../../database/entities";
import { hasNewerMigration, missingMigrations, serverVersion } from "../../database/migrate";
import { migrationNames } from "../../database/migrations";
import { type Database, openDatabase } from "../../database/orm";
import { FolderInUse, StartError } from "../../errors";
import { canSign } from "../../features/application/signing-keys";
import { installationIdOf, selfReportShape } from "../../features/operator/health";
import { isPrepared } from "../../features/operator/schema";
import { JobQueue } from "../../queue/job-queue";
import { urlHost } from "../../settings/formats";
import { answerOf, type Check, checksOf, type Troubles, troubleOf } from "./check";

const database = checksOf("database");
const migrations = checksOf("migrations");
const clock = checksOf("clock");
const identity = checksOf("identity");
const accounts = checksOf("accounts");

const largestSkew = 5_000; // ms

/** The id of the database's installation, or why it is unknown. */
export type InstallationId = string | { unknown: string };

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
    const mend = "use the command line of the version that the service runs";
    return migrations.warn("a newer version has migrated it", mend);
  }
  return migrations.ok(`all ${migrationNames.length} applied`);
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

async function checkSigningKey({ orm }: Database): Promise<Check> {
  if ((await canSign(orm.em.fork())) !== false) return identity.ok("IDENTITY_KEY fits the signing key");
  const mend = "set the one that encrypted it, or run `latchkey keys rotate` and restart the service";
  return identity.fail("IDENTITY_KEY does not decrypt the signing key", mend);
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

/** How many accounts the claim of `IDP_GROUPS_CLAIM` has reached. */
async function checkGroups({ orm }: Database): Promise<Check> {
  const em = orm.em.fork();
  const linked = await em.count(User, linkedForGroups());
  const without = await em.count(User, { ...linkedForGroups(), [raw("cardinality(idp_groups)")]: 0 });
  const found = `connected accounts: ${linked - without} with groups from the provider, ${without} without`;
  if (linked === 0 || without < linked) return accounts.ok(found);
  return accounts.warn(found, "let the provider's profile answer (userinfo) have the claim of IDP_GROUPS_CLAIM");
}

/** After a 503, the statement of the request must not go on in the database. */
async function checkStatementLimit({ orm }: Database): Promise<Check> {
  const [row] = await orm.em
    .fork()
    .execute<{ limit: string }[]>("select current_setting('statement_timeout') as limit");
  if (row?.limit !== "0") return database.ok(`statements through the pooler end after ${row?.limit}`);
  return database.warn("statements through the pooler have no time limit", "alter role … set statement_timeout = '4s'");
}

const unopened: Troubles = [
  [/unsupported startup parameter/, "{reason}", "set DATABASE_DIRECT_URL: DATABASE_URL leads to a pooler"],
  [/password|authentication|role/, "{reason}", "correct the user and the password in DATABASE_URL"],
  [/database ".*" does not exist/, "{reason}", "create the database, or correct its name in DATABASE_URL"],
  [/cannot be (?:opened|written)/, "{reason}", "check the folder of DATABASE_URL, its owner and the disk"],
  [/^/, "{reason}", "start PostgreSQL, or correct host and port in DATABASE_URL"],
];

/** How the service at `origin` sees a request. @throws CallError */
export const askForReport = (origin: string, headers: Record<string, string> = {}) =>
  callJson(`${origin}/auth/session?doctor`, { method: "GET", headers }, selfReportShape);

/** Only the service can open the embedded database. It is asked where it listens, without the proxy. */
async function askService() {
  const { host, port } = config();
  const origin = `http://${urlHost(host ?? "localhost")}:${port}`;
  const url = `${origin}/readyz`;
  const cause = await answerOf(callText(url, { method: "GET" }).then(() => null));
  const check =
    cause === null
      ? migrations.ok(`all applied: ${url} says ready`)
      : migrations.fail(`${url} does not say ready (${cause})`, "see the log of the service, and HOST and PORT");
  const report = await askForReport(origin).catch(() => null);
  return {
    check,
    installation: report?.installation ?? { unknown: "no service on this machine says which one it is" },
  };
}

export async function checkDatabase(
  databaseUrl: string,
  directUrl: string | null,
): Promise<{ checks: Check[]; installation: InstallationId }> {
  const folder = folderOf(databaseUrl);
  if (folder !== null && hasNoDatabase(folder)) {
    const none = database.warn(`there is no database in ${folder}`, "the first start of the service makes it");
    return { checks: [none], installation: { unknown: none.found } };
  }
  let opened: Database;
  try {
    opened = await openDatabase(databaseUrl, directUrl);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    const reason = error.message.replace(/\.$/, "");
    if (error instanceof FolderInUse) {
      const { check, installation } = await askService();
      return { checks: [database.skip(reason), check], installation };
    }
    return {
      checks: [database.fail(...troubleOf(unopened, reason, { reason }))],
      installation: { unknown: "its database cannot be opened" },
    };
  }
  try {
    const checks = [await checkVersion(opened), await checkMigrations(opened)];
    const isMigrated = checks.every(({ status }) => status !== "fail");
    if (isMigrated && config().identityKey) checks.push(await checkSigningKey(opened));
    if (isMigrated && !config().passwords.on) checks.push(...(await checkWaysIn(opened)));
    if (isMigrated && config().identityProvider?.groupsClaim) checks.push(await checkGroups(opened));
    if (opened.connection.kind === "postgresql") checks.push(await checkClock(opened));
    if (directUrl !== null) {
      checks.push(await checkStatementLimit(opened), ...(await checkDatabase(directUrl, null)).checks.slice(0, 1));
    }
    const id = await installationIdOf(opened.orm.em.fork()).catch(() => undefined);
    return { checks, installation: id ?? { unknown: "its database is not migrated" } };
  } finally {
    await opened.close();
  }
}

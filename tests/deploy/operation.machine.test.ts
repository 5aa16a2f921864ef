import { afterAll, beforeAll, describe, expect, inject, onTestFinished, test } from "vitest";
import { connect, PostgresCluster } from "../support/postgres-cluster";
import { until } from "../support/until";
import { Visitor } from "../support/visitor";
import { Machine } from "./machine";
import { type MailServer, startMailServer } from "./mail-server";

const email = "ada@example.com";

const onPostgres = ["install", "settings", "create the database", "use PostgreSQL"];

async function createMachine({ url }: MailServer, ...clusters: PostgresCluster[]): Promise<Machine> {
  const [postgres = 0, replica = 0] = clusters.map(({ port }) => port);
  const machine = await Machine.create({ smtpUrl: url, production: inject("production"), postgres, replica });
  onTestFinished(() => machine.remove());
  return machine;
}

async function register({ url }: Machine, { token }: MailServer, email: string): Promise<Visitor> {
  const visitor = new Visitor(url);
  await visitor.post("/register", { email });
  await visitor.finishRegistration({ email, token: await token("Finish creating your account", email) });
  return visitor;
}

async function arrange(machine: Machine, smtp: MailServer) {
  const visitor = await register(machine, smtp, email);
  await visitor.askForReset(email);
  return { visitor, reset: { email, token: await smtp.token("Reset your password") } };
}

type Arranged = Awaited<ReturnType<typeof arrange>>;

async function expectSession({ url }: Machine, { visitor }: Arranged): Promise<void> {
  const elsewhere = new Visitor(url);
  for (const [name, value] of visitor.cookies) elsewhere.cookies.set(name, value);
  const page = await elsewhere.get("/dashboard");
  expect(page.status).toBe(200);
  expect(page.body).toContain(email);
}

async function execute({ port }: PostgresCluster, statement: string): Promise<object[]> {
  const client = await connect(`postgresql://postgres@127.0.0.1:${port}/latchkey`);
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

const usersOf = (cluster: PostgresCluster) => execute(cluster, "select email from users order by email");
const waitingMailsOf = (cluster: PostgresCluster) =>
  execute(cluster, "select data from pgboss.job where data ->> 'email' is not null");

async function expectResetLink({ url }: Machine, { reset }: Arranged): Promise<void> {
  const answer = await new Visitor(url).reset(reset);
  expect(answer).toMatchObject({ status: 302, location: "/login?notice=password_reset" });
}

/** Of a command that may fail: nobody answers at the machine's `APP_URL`, which `doctor` says. */
function outputOf(run: () => string): string {
  try {
    return run();
  } catch (error) {
    return String((error as { stdout?: unknown }).stdout);
  }
}

test("sessions outlive every documented step of the embedded database", async () => {
  const smtp = await startMailServer();
  const machine = await createMachine(smtp);
  machine.run("install");
  machine.run("settings");
  await machine.runUntilReady("start");
  const arranged = await arrange(machine, smtp);

  machine.run("install the new version");
  expect(outputOf(() => machine.run("check the settings"))).toMatch(/^ok +settings/m);
  await machine.runUntilReady("upgrade");
  await expectSession(machine, arranged);
  await machine.runUntilReady("go back");
  await expectSession(machine, arranged);

  const events = machine.run("no mail arrives").trim().split("\n");
  expect(events.map((line) => JSON.parse(line).event)).toEqual([
    "registration.requested",
    "registration.sent",
    "registration.completed",
    "password_reset.requested",
    "password_reset.sent",
  ]);

  const gone = "gone@example.com";
  const leaver = await register(machine, smtp, gone);
  await machine.runUntilReady("back up the embedded database");
  await leaver.post("/dashboard", { intent: "delete-account", email: gone });
  const elsewhere = await createMachine(smtp);
  elsewhere.takeBackups(machine);
  elsewhere.run("install");
  elsewhere.run("settings");
  await elsewhere.runUntilReady("restore the embedded database");
  expect((await new Visitor(elsewhere.url).logIn(email)).status).toBe(302);
  await expectSession(machine, arranged);

  machine.emptyDataFolder();
  await machine.runUntilReady("restore the embedded database");
  expect((await new Visitor(machine.url).logIn(email)).status).toBe(302);
  expect((await new Visitor(machine.url).logIn(gone)).status).toBe(422);

  const newSmtp = await startMailServer();
  machine.useSmtp(newSmtp.url);
  await machine.runUntilReady("rotate the SMTP login");
  await new Visitor(machine.url).askForReset(email);
  const reset = { email, token: await newSmtp.token("Reset your password") };
  await expectResetLink(machine, { ...arranged, reset });
}, 180_000);

describe("PostgreSQL", () => {
  let clusters: [PostgresCluster, PostgresCluster, PostgresCluster];

  beforeAll(async () => {
    const start = () => PostgresCluster.start({ passwordOf: "latchkey" });
    clusters = await Promise.all([start(), start(), start()]);
  });

  afterAll(() => Promise.all(clusters.map((cluster) => cluster.remove())));

  test("sessions outlive every documented step", async () => {
    const smtp = await startMailServer();
    const machine = await createMachine(smtp, clusters[0]);
    for (const name of onPostgres) machine.run(name);
    await machine.runUntilReady("start");
    const arranged = await arrange(machine, smtp);
    expect(machine.run("command")).toContain(email);
    machine.run("export");
    expect(machine.run("import")).toBe("0 accounts created, 1 skipped because the address has an account.\n");
    const gone = "gone@example.com";
    const leaver = await register(machine, smtp, gone);
    const dismissed = "dismissed@example.com";
    await register(machine, smtp, dismissed);
    const waiting = `'latchkey', '{ "task": "mail_registration", "email": "eve@example.com" }', now() + interval '1 day'`;
    await execute(clusters[0], `insert into pgboss.job (name, data, start_after) values (${waiting})`);
    machine.run("back up PostgreSQL");
    await leaver.post("/dashboard", { intent: "delete-account", email: gone });
    machine.latchkey("user", "delete", dismissed, "--yes");
    const logged = async () => /"account\.deleted".*"actor":"cli"/.test(await machine.log());
    await until(logged, "the service has logged what the operator deleted");

    const elsewhere = await createMachine(smtp, clusters[1]);
    elsewhere.takeBackups(machine);
    for (const name of onPostgres) elsewhere.run(name);
    await elsewhere.runUntilReady("restore PostgreSQL");
    await expectSession(elsewhere, arranged);
    await expectResetLink(elsewhere, arranged);

    expect(() => machine.run("restore PostgreSQL")).toThrow('schema "pgboss" already exists');
    machine.run("empty the database");
    await machine.runUntilReady("restore PostgreSQL");
    expect(await usersOf(clusters[1])).toEqual([{ email }, { email: dismissed }, { email: gone }]);
    expect(await usersOf(clusters[0])).toEqual([{ email }]);
    for (const cluster of clusters.slice(0, 2)) expect(await waitingMailsOf(cluster)).toEqual([]);
    await expectSession(machine, arranged);

    // The tables of a newer version: this one is then the version before.
    await execute(clusters[0], "insert into mikro_orm_migrations (name) values ('Migration29990101000000')");
    await machine.runUntilReady("rotate the database password");
    await expectSession(machine, arranged);
  });

  test("sessions outlive the move of the embedded database to it at a second try", async () => {
    const smtp = await startMailServer();
    const machine = await createMachine(smtp, clusters[2]);
    for (const name of ["install", "settings"]) machine.run(name);
    await machine.runUntilReady("start");
    const arranged = await arrange(machine, smtp);
    machine.run("create the database");
    await execute(clusters[2], "create table other ()");
    expect(() => machine.run("copy to PostgreSQL")).toThrow("Nothing was copied: the database TO is not empty.");
    await execute(clusters[2], "drop table other");
    expect(machine.run("copy to PostgreSQL")).toMatch(/^users +1$/m);
    machine.run("use PostgreSQL");
    await machine.runUntilReady("start");
    expect(await usersOf(clusters[2])).toEqual([{ email }]);
    await expectSession(machine, arranged);
    await expectResetLink(machine, arranged);
  });

  test("sessions outlive a failover to the replica", async () => {
    const primary = await PostgresCluster.start({ passwordOf: "latchkey" });
    onTestFinished(() => primary.remove());
    const replica = await primary.startReplica();
    onTestFinished(() => replica.remove());
    const smtp = await startMailServer();
    const machine = await createMachine(smtp, primary, replica);
    for (const name of onPostgres) machine.run(name);
    await machine.runUntilReady("start");
    await machine.runUntilReady("name both hosts");
    machine.run("commit on the replica too");
    const arranged = await arrange(machine, smtp);

    await primary.stop("kill");
    await until(async () => (await new Visitor(machine.url).get("/readyz")).status === 503, "it is not ready");
    const other = await createMachine(smtp, replica);
    other.run("promote the replica");
    await until(async () => (await new Visitor(machine.url).get("/readyz")).status === 200, "it is ready again");
    await expectSession(machine, arranged);
    await expectResetLink(machine, arranged);
  });

  test("sessions outlive PgBouncer in front of it", async () => {
    const smtp = await startMailServer();
    const cluster = await PostgresCluster.start({ passwordOf: "latchkey" });
    onTestFinished(() => cluster.remove());
    const machine = await createMachine(smtp, cluster);
    for (const name of onPostgres) machine.run(name);
    await machine.runUntilReady("start");
    const arranged = await arrange(machine, smtp);
    await machine.runUntilReady("put PgBouncer in front");
    await expectSession(machine, arranged);
    await expectResetLink(machine, arranged);
    expect(machine.run("command")).toContain(email);
  });
});

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import type { Certificate } from "./certificates";
import { childrenOf, signal } from "./child-processes";
import { findProgram } from "./programs";
import { freePort } from "./server";

/** PostgreSQL and PgBouncer refuse to run as root. Root starts them as the user that PostgreSQL's package creates. */
export function postgresUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (option: string) => Number(execFileSync("id", [option, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

export function giveToPostgres(path: string): void {
  const { uid, gid } = postgresUser();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** `fast` closes connections cleanly, `immediate` needs recovery at the next start, `kill` is like a power failure. */
export type StopMode = "fast" | "immediate" | "kill";

const signals = { fast: "SIGINT", immediate: "SIGQUIT", kill: "SIGKILL" } as const;

interface ClusterOptions {
  passwordOf?: string;
  /** Clients over TCP must use TLS. */
  certificate?: Certificate;
  settings?: Record<string, string | number>;
}

export class PostgresCluster {
  readonly port: number;
  readonly #home: string;
  readonly #user = postgresUser();
  /** Where the programs are that nobody links to, such as pg_basebackup. */
  readonly #bin = dirname(realpathSync(findProgram("initdb") ?? "."));
  readonly #settings: Record<string, string | number>;
  #server: ChildProcess | undefined;
  #databases = 0;

  private constructor(port: number, settings: ClusterOptions["settings"]) {
    this.port = port;
    this.#home = mkdtempSync(join(tmpdir(), "latchkey-cluster-"));
    this.#settings = { port, listen_addresses: "127.0.0.1", unix_socket_directories: this.#home, ...settings };
    giveToPostgres(this.#home);
  }

  /** Runs a program that makes the data folder. */
  #fill(program: string, options: string[]): void {
    const words = [...options, "--no-sync", "-D", join(this.#home, "data")];
    execFileSync(join(this.#bin, program), words, { ...this.#user, cwd: this.#home, stdio: "ignore" });
  }

  #requireTls({ key, cert }: Certificate): void {
    const write = (file: string, text: string) => {
      const path = join(this.#home, "data", file);
      writeFileSync(path, text, { mode: 0o600 });
      giveToPostgres(path);
    };
    write("server.key", key);
    write("server.crt", cert);
    write("pg_hba.conf", "hostssl all all localhost trust\n");
    write("postgresql.auto.conf", "ssl = on\n");
  }

  #requirePassword(role: string): void {
    const rules = join(this.#home, "data", "pg_hba.conf"); // the first rule that fits decides
    writeFileSync(rules, `host all ${role} 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, "utf8")}`);
  }

  static async start({ passwordOf, certificate, settings }: ClusterOptions = {}): Promise<PostgresCluster> {
    const cluster = new PostgresCluster(await freePort(), settings);
    cluster.#fill("initdb", ["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C"]);
    if (passwordOf !== undefined) cluster.#requirePassword(passwordOf);
    if (certificate) cluster.#requireTls(certificate);
    await cluster.start();
    return cluster;
  }

  /** Starts a streaming replica, which is read-only until it is promoted. */
  async startReplica(): Promise<PostgresCluster> {
    const replica = new PostgresCluster(await freePort(), {});
    const primary = `host=127.0.0.1 port=${this.port} user=postgres`;
    replica.#fill("pg_basebackup", ["--write-recovery-conf", "--checkpoint=fast", "--dbname", primary]);
    await replica.start();
    return replica;
  }

  promote(): Promise<unknown> {
    return this.execute("select pg_promote()");
  }

  async start(): Promise<void> {
    const options = Object.entries(this.#settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const server = spawn(join(this.#bin, "postgres"), ["-D", join(this.#home, "data"), ...options], {
      ...this.#user,
      cwd: this.#home,
      stdio: ["ignore", "ignore", "pipe"],
    });
    this.#server = server;
    let output = "";
    await new Promise<void>((resolve, reject) => {
      server.stderr.on("data", (chunk: Buffer) => {
        output += chunk.toString();
        if (/ready to accept (?:read-only )?connections/.test(output)) resolve();
      });
      server.once("close", (code) => reject(new Error(`PostgreSQL ended (${code}):\n${output}`)));
    });
  }

  async stop(mode: StopMode = "fast"): Promise<void> {
    const server = this.#running();
    if (!server) return;
    const ended = new Promise((resolve) => server.once("exit", resolve));
    const children = mode === "kill" ? childrenOf(server.pid) : [];
    server.kill(signals[mode]);
    for (const pid of children) signal(pid, "SIGKILL");
    await ended;
  }

  /** Suspends every process of the server with its sockets open; {@link thaw} resumes them. */
  freeze(): void {
    for (const pid of this.#processes()) signal(pid, "SIGSTOP");
  }

  thaw(): void {
    for (const pid of this.#processes()) signal(pid, "SIGCONT");
  }

  #running(): ChildProcess | undefined {
    const server = this.#server;
    return server?.exitCode === null && server.signalCode === null ? server : undefined;
  }

  #processes(): number[] {
    const pid = this.#running()?.pid;
    return pid === undefined ? [] : [pid, ...childrenOf(pid)];
  }

  async createDatabase(): Promise<string> {
    const name = `latchkey_${this.#databases++}`;
    await this.execute(`create database ${name}`);
    return this.url(name);
  }

  /** Runs a statement of an administrator. */
  async execute(statement: string): Promise<Record<string, unknown>[]> {
    const client = await connect(this.url("postgres"));
    try {
      return (await client.query(statement)).rows;
    } finally {
      await client.end();
    }
  }

  url(database: string): string {
    return `postgresql://postgres@127.0.0.1:${this.port}/${database}`;
  }

  async remove(): Promise<void> {
    this.thaw();
    await this.stop("immediate");
    rmSync(this.#home, { recursive: true, force: true });
  }
}

/** A client whose `error` events are ignored, because tests stop its server. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: "test" });
  client.on("error", () => {});
  await client.connect();
  return client;
}

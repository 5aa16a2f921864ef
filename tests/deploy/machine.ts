import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../support/server";
import { until } from "../support/until";
import { documentedCommands } from "./documented-commands";
import { runAsRoot, stranger, temporaryFolder, writeScript } from "./host";

/** What a machine has besides Latchkey. */
interface Environment {
  smtpUrl: string;
  /** The folder with installed production dependencies. */
  production: string;
  /** Ports; 0 for none. */
  postgres: number;
  replica: number;
}

const systemPath = { PATH: "/usr/bin:/bin" };

/**
 * A folder in which the commands of docs/operation.md run: `/etc`, `/opt`, `/usr/local` and `/var` are below it, and the
 * user latchkey has the id of a stranger. The tests of the unit say what systemd makes of it: here `systemctl` only starts
 * and stops the program, with the settings that the commands have written.
 */
export class Machine {
  readonly url: string;
  readonly #root: string;
  readonly #poolerPort: number;
  #surroundings: Environment;

  private constructor(root: string, [port, poolerPort]: [number, number], surroundings: Environment) {
    this.#root = root;
    this.#poolerPort = poolerPort;
    this.#surroundings = surroundings;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async create(surroundings: Environment): Promise<Machine> {
    const { folder } = await temporaryFolder();
    const folders = "bin etc/pgbouncer etc/systemd/system opt usr/local/sbin var/lib var/backups".split(" ");
    for (const path of folders) await mkdir(join(folder, path), { recursive: true });
    const machine = new Machine(folder, [await freePort(), await freePort()], surroundings);
    await machine.#writePrograms();
    return machine;
  }

  async #writePrograms(): Promise<void> {
    const root = this.#root;
    const program = (name: string, ...lines: string[]) => writeScript(join(root, "bin", name), lines);
    const user = `--reuid=${stranger} --regid=${stranger} --clear-groups --inh-caps=-all --no-new-privs`;
    await program("useradd");
    await program("runuser", "shift 3", 'exec "$@"'); // runuser -u postgres -- COMMAND
    await program("journalctl", `cat ${root}/log`);
    await program("npm", `cp -al ${this.#surroundings.production}/node_modules .`);
    await program(
      "as-latchkey",
      `cd "\${FOLDER:-${root}/opt/latchkey}"`,
      "umask 0077",
      `exec setpriv ${user} env -i PATH=/usr/bin:/bin NODE_ENV=production HOST=127.0.0.1 PORT=${new URL(this.url).port} \\`,
      `  ${process.execPath} --env-file=${root}/etc/latchkey/settings "$@"`,
    );
    await program(
      "systemd-run",
      'while [ "$1" != /usr/bin/node ]; do',
      `  case "$1" in --property=WorkingDirectory=*) folder=\${1#*WorkingDirectory=} ;; esac`,
      "  shift",
      "done",
      "shift",
      `export FOLDER="${root}\${folder#${root}}"`,
      `exec ${root}/bin/as-latchkey "$@"`,
    );
    await program(
      "systemctl",
      'runs() { kill -0 "$1" 2>/dev/null && ! grep -q "^State:.Z" "/proc/$1/status"; }',
      "stop() {",
      `  pid=$(cat ${root}/pid 2>/dev/null) || return 0`,
      '  if runs "$pid"; then kill -TERM "$pid"; fi',
      '  while runs "$pid"; do sleep 0.05; done',
      "}",
      "start() {",
      `  install -d -o ${stranger} -g ${stranger} -m 0700 ${root}/var/lib/latchkey`,
      `  ${root}/bin/as-latchkey server/serve.js >>${root}/log 2>&1 </dev/null &`,
      `  echo $! >${root}/pid`,
      "}",
      'case "$*" in',
      "  daemon-reload) ;;",
      '  "enable --now latchkey" | "start latchkey") start ;;',
      '  "stop latchkey") stop ;;',
      '  "restart latchkey") stop; start ;;',
      '  "restart pgbouncer")',
      `    install -d -o postgres -g postgres ${root}/pgbouncer`,
      `    sed -e "s,= /etc/,= ${root}/etc/," -e "s,= /var/.*/,= ${root}/pgbouncer/," \\`,
      `      -e "s/=5432/=${this.#surroundings.postgres}/" -e "s/= 6432/= ${this.#poolerPort}/" \\`,
      `      ${root}/etc/pgbouncer/pgbouncer.ini >${root}/pgbouncer/pgbouncer.ini`,
      "    exec setpriv --reuid=postgres --regid=postgres --clear-groups \\",
      `      pgbouncer --daemon --quiet ${root}/pgbouncer/pgbouncer.ini ;;`,
      "  *) exit 1 ;;",
      "esac",
    );
  }

  /** Runs the commands of this name in docs/operation.md; returns their output. */
  run(name: string): string {
    const { smtpUrl, postgres, replica } = this.#surroundings;
    const commands = documentedCommands(name)
      .replaceAll(/(?<=^|[\s'",:=<>])\/(etc|opt|usr\/local|var)\//gm, `${this.#root}/$1/`)
      .replaceAll(/(?<=-[og] )latchkey\b/g, String(stranger))
      .replaceAll("latchkey:latchkey", `${stranger}:${stranger}`)
      .replaceAll(/smtps:\/\/[^']+/g, smtpUrl)
      .replaceAll("http://127.0.0.1:3000", this.url)
      .replaceAll("127.0.0.1:6432", `127.0.0.1:${this.#poolerPort}`)
      .replaceAll(/(?:127\.0\.0\.1|10\.0\.0\.11):5432/g, `127.0.0.1:${postgres}`)
      .replaceAll("10.0.0.12:5432", `127.0.0.1:${replica}`);
    return this.#runAsRoot(commands);
  }

  #runAsRoot(commands: string): string {
    return runAsRoot(commands, {
      PATH: `${this.#root}/bin:${this.#root}/usr/local/sbin:/usr/bin:/bin:/usr/sbin:/sbin`,
      PGHOST: "127.0.0.1",
      PGPORT: String(this.#surroundings.postgres),
      PGUSER: "postgres",
    });
  }

  latchkey(...words: string[]): string {
    return this.#runAsRoot(`latchkey ${words.join(" ")}`);
  }

  /** {@link run}, and waits until Latchkey is ready. */
  async runUntilReady(name: string): Promise<void> {
    const ready = () =>
      fetch(`${this.url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    try {
      this.run(name);
      await until(ready, "Latchkey is ready");
    } catch (cause) {
      throw new Error(`After "${name}", Latchkey has logged:\n${await this.log()}`, { cause });
    }
  }

  useSmtp(smtpUrl: string): void {
    this.#surroundings = { ...this.#surroundings, smtpUrl };
  }

  log(): Promise<string> {
    return readFile(join(this.#root, "log"), "utf8");
  }

  takeBackups(from: Machine): void {
    runAsRoot(`cp -a ${from.#root}/var/backups/. ${this.#root}/var/backups/`, systemPath);
  }

  emptyDataFolder(): void {
    this.#runAsRoot(`systemctl stop latchkey; rm -r ${this.#root}/var/lib/latchkey`);
  }

  remove(): void {
    const pooler = `${this.#root}/pgbouncer/pgbouncer.pid`;
    this.#runAsRoot(`systemctl stop latchkey; [ ! -f ${pooler} ] || kill "$(cat ${pooler})"; rm -rf ${this.#root}`);
  }
}

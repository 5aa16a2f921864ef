import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../support/server";
import { until } from "../support/until";
import { documentedCommands } from "./documented-commands";
import { runAsRoot, stranger, temporaryFolder, writeScript } from "./host";

/** What a machine has besides Latchkey. */
interface Surroundings {
  smtpUrl: string;
  /** The folder with installed production dependencies. */
  production: string;
  postgres?: number;
  replica?: number;
}

/**
 * A machine on which the commands of docs/operation.md run, in a folder: `/etc`, `/opt`, `/usr/local` and `/var` are below
 * it, the user latchkey has the id of a stranger, and scripts stand in for `useradd`, `npm ci` and systemd.
 */
export class Machine {
  readonly url: string;
  readonly #root: string;
  readonly #remove: () => Promise<void>;
  readonly #poolerPort: number;
  #surroundings: Surroundings;

  private constructor(
    root: string,
    remove: () => Promise<void>,
    [port, poolerPort]: [number, number],
    surroundings: Surroundings,
  ) {
    this.#root = root;
    this.#poolerPort = poolerPort;
    this.#remove = remove;
    this.#surroundings = surroundings;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async create(surroundings: Surroundings): Promise<Machine> {
    const { folder, remove } = await temporaryFolder();
    for (const path of [
      "bin",
      "etc/pgbouncer",
      "etc/systemd/system",
      "opt",
      "usr/local/sbin",
      "var/lib",
      "var/backups",
    ]) {
      await mkdir(join(folder, path), { recursive: true });
    }
    const machine = new Machine(folder, remove, [await freePort(), await freePort()], surroundings);
    await machine.#writeStandIns();
    return machine;
  }

  async #writeStandIns(): Promise<void> {
    const bin = (name: string) => join(this.#root, "bin", name);
    const user = `--reuid=${stranger} --regid=${stranger} --clear-groups --inh-caps=-all --no-new-privs`;
    await writeScript(bin("useradd"), []);
    await writeScript(bin("runuser"), ["shift 3", 'exec "$@"']); // runuser -u postgres -- COMMAND
    await writeScript(bin("journalctl"), [`cat ${this.#root}/log`]);
    await writeScript(bin("npm"), [
      '[ "$*" = "ci --omit=dev --ignore-scripts" ]',
      `cmp "${process.cwd()}/package-lock.json" package-lock.json`,
      `cp -al ${this.#surroundings.production}/node_modules .`,
    ]);
    // Runs a command as the unit's user in $folder, with $environment, the lines of $settings and $mask.
    const run = [
      `root=${this.#root} uid=${stranger}`,
      "run() {",
      '  cd "$root$folder"',
      '  command="$*"',
      "  set -- $environment",
      '  while IFS= read -r line; do set -- "$@" "$line"; done <"$root$settings"',
      '  umask "$mask"',
      `  exec setpriv ${user} env -i PATH=/usr/bin:/bin "$@" PORT=${new URL(this.url).port} \\`,
      `    ${process.execPath} \${command#/usr/bin/node }`,
      "}",
    ];
    await writeScript(bin("systemd-run"), [
      ...run,
      'folder=/ environment="" settings=/dev/null mask=0022',
      'while [ "$1" != /usr/bin/node ]; do',
      '  name=$(echo "$1" | cut -d= -f1-2) value=$(echo "$1" | cut -d= -f3)',
      '  case "$name" in',
      '    --setenv=*) environment="$environment $(echo "$1" | cut -d= -f2-)" ;;',
      "    --property=WorkingDirectory) folder=$value ;;",
      "    --property=EnvironmentFile) settings=$value ;;",
      "    --property=UMask) mask=$value ;;",
      "  esac",
      "  shift",
      "done",
      'run "$@"',
    ]);
    const unit = [
      ...run,
      'unit="$root/etc/systemd/system/latchkey.service"',
      'value() { sed -n "s/^$1=//p" "$unit"; }',
    ];
    await writeScript(bin("systemctl"), [
      ...unit,
      'if [ "$*" = "restart pgbouncer" ]; then',
      '  home="$root/pgbouncer"',
      '  install -d -o postgres -g postgres "$home"',
      `  sed -e "s,= /etc/,= $root/etc/," -e "s,= /var/.*/,= $home/," -e "s/=5432/=${this.#surroundings.postgres}/" \\`,
      `    -e "s/= 6432/= ${this.#poolerPort}/" "$root/etc/pgbouncer/pgbouncer.ini" >"$home/pgbouncer.ini"`,
      "  exec setpriv --reuid=postgres --regid=postgres --clear-groups pgbouncer --daemon --quiet $home/pgbouncer.ini",
      "fi",
      'runs() { kill -0 "$1" 2>/dev/null && ! grep -q "^State:.Z" "/proc/$1/status"; }',
      "stop() {",
      '  [ -f "$root/pid" ] || return 0',
      '  pid=$(cat "$root/pid")',
      '  rm "$root/pid"',
      '  if runs "$pid"; then kill -TERM "$pid"; fi',
      '  while runs "$pid"; do sleep 0.05; done',
      "}",
      "start() {",
      '  install -d -o "$uid" -g "$uid" -m "$(value StateDirectoryMode)" "$root/var/lib/$(value StateDirectory)"',
      "  folder=$(value WorkingDirectory) environment=$(value Environment)",
      "  settings=$(value EnvironmentFile) mask=$(value UMask)",
      '  (run $(value ExecStart)) >>"$root/log" 2>&1 </dev/null &',
      '  echo $! >"$root/pid"',
      "}",
      '[ "$*" = daemon-reload ] || [ "$*" = "enable --now latchkey" ] || [ "$2" = latchkey ]',
      'case "$1" in',
      "  daemon-reload) ;;",
      "  enable | start) start ;;",
      "  stop) stop ;;",
      "  restart) stop; start ;;",
      "esac",
    ]);
  }

  /** Runs the commands of this name in docs/operation.md; returns their output. */
  run(name: string): string {
    const { smtpUrl, postgres = 0, replica = 0 } = this.#surroundings;
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
      PGPORT: String(this.#surroundings.postgres ?? 0),
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
    runAsRoot(`cp -a ${from.#root}/var/backups/. ${this.#root}/var/backups/`, { PATH: "/usr/bin:/bin" });
  }

  emptyDataFolder(): void {
    runAsRoot(`${this.#root}/bin/systemctl stop latchkey; rm -r ${this.#root}/var/lib/latchkey`, {
      PATH: "/usr/bin:/bin",
    });
  }

  async remove(): Promise<void> {
    const pooler = `${this.#root}/pgbouncer/pgbouncer.pid`;
    const stop = `${this.#root}/bin/systemctl stop latchkey; [ ! -f ${pooler} ] || kill "$(cat ${pooler})"`;
    runAsRoot(`${stop}; rm -rf ${this.#root}/*`, { PATH: "/usr/bin:/bin" });
    await this.#remove();
  }
}

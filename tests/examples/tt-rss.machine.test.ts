import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { isRefused } from "../support/connections";
import { PostgresCluster } from "../support/postgres-cluster";
import type { Visitor } from "../support/visitor";
import { type Example, onOneHost, type ProxyName, register, startExample, startListening } from "./example";
import { recipeOf, withRecipe } from "./recipe";

const run = promisify(execFile);

const installed = "/usr/share/tt-rss";
/** It refuses to run as root. */
const unprivileged = process.getuid?.() === 0 ? "setpriv --reuid=nobody --regid=nogroup --clear-groups".split(" ") : [];

/** Debian's files with a database and folders of the test, and the lines of the recipe. */
async function install(folder: string, port: number, recipe: Record<string, string>, url: string): Promise<void> {
  await cp(`${installed}/www`, join(folder, "www"), { recursive: true, dereference: true });
  for (const name of ["cache/images", "cache/upload", "cache/export", "cache/js", "lock"]) {
    await mkdir(join(folder, name), { recursive: true });
  }
  let text = await readFile("/etc/tt-rss/config.php", "utf8");
  const lines = (recipe.php ?? "").replace("https://www.example.org", url).trim().split("\n");
  const own = `$dbtype = 'pgsql'; $dbserver = '127.0.0.1'; $dbport = ${port}; $dbuser = $dbname = 'postgres'; $dbpass = '';`;
  for (const line of lines) {
    const name = /define\('(\w+)'/.exec(line)?.[1];
    text = text.replace(new RegExp(`^\\s*define\\('${name}'.*$`, "m"), "");
  }
  text = text
    .replace(/include_once\('\/etc\/tt-rss\/database.php'\);/, () => [own, ...lines].join("\n"))
    .replace("/var/cache/tt-rss", join(folder, "cache"))
    .replace("/var/lib/tt-rss", join(folder, "lock"));
  await writeFile(join(folder, "www/config.php"), text);
  await run("chmod", ["-R", "a+rwX", folder]);
  await chmod(folder, 0o755);
}

describe.each<ProxyName>(["nginx", "caddy"])("Tiny Tiny RSS behind %s", (proxy) => {
  const [member, guest, other] = ["ada@example.com", "bob@example.com", "eve@example.com"];
  let place: Awaited<ReturnType<typeof temporaryFolder>>;
  let cluster: PostgresCluster;
  let example: Example;
  let port: number;
  let ada: Visitor;
  let bob: Visitor;
  let eve: Visitor;

  beforeAll(async () => {
    place = await temporaryFolder();
    cluster = await PostgresCluster.start();
    const database = new pg.Client(`postgresql://postgres@127.0.0.1:${cluster.port}/postgres`);
    await database.connect();
    await database.query(await readFile(`${installed}/schema/ttrss_schema_pgsql.sql`, "utf8"));
    await database.end();
    const recipe = await recipeOf("Tiny Tiny RSS");
    const { configuration, ...others } = await onOneHost(proxy);
    const changed = withRecipe(configuration, recipe);
    expect(changed).toContain("user=email&group=readers");
    const application = { URL: others.settings.APP_URL };
    example = await startExample(
      { ...others, configuration: changed, application },
      async (free, { URL: url = "" }) => {
        port = free;
        await install(place.folder, cluster.port, recipe, url);
        const php = ["php", "-S", `127.0.0.1:${port}`, "-t", join(place.folder, "www")];
        return startListening([...unprivileged, ...php], port, {});
      },
    );
    ada = await register(example, member);
    bob = await register(example, guest);
    eve = await register(example, other);
    for (const email of [member, other]) await example.command("user", "groups", email, "--add", "readers");
  }, 120_000);

  afterAll(async () => {
    await example.stop();
    await cluster.stop("fast");
    await place.remove();
  });

  async function curl(path: string, headers: Record<string, string>) {
    const words = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const { stdout } = await run("curl", ["-sS", "-i", ...words, example.url + path], { maxBuffer: 4_000_000 });
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(stdout) ?? [];
    const cookies = [...stdout.matchAll(/^set-cookie: (ttrss_[^;]*)/gim)].map(([, cookie]) => cookie);
    return { status: Number(status), cookie: cookies.at(-1) ?? "", body: stdout };
  }

  /** The status, and the address and name that its page of preferences has. @param earlier cookies of the browser */
  async function whoIs(headers: Record<string, string>, earlier = "") {
    const withCookies = (...more: string[]) => ({
      ...headers,
      Cookie: [headers.Cookie, earlier, ...more].filter(Boolean).join("; "),
    });
    const first = await curl("/", withCookies());
    const { body } = await curl("/backend.php?op=pref-prefs", withCookies(first.cookie));
    const field = (name: string) => new RegExp(`name='${name}'[^>]*value='([^']*)'`).exec(body)?.[1] ?? null;
    return { status: first.status, cookie: first.cookie, email: field("email"), name: field("full_name") };
  }

  const forged = { "Remote-User": other, Remote_User: other, "User-Mail": other, User_Mail: other, "User-Name": "Eve" };

  test("who signs in is that person there, with her address", async () => {
    expect(await whoIs({ Cookie: ada.cookie })).toMatchObject({ status: 200, email: member });
  });

  test("forged headers are nobody", async () => {
    expect(await whoIs(forged)).toMatchObject({ status: 401, email: null });
  });

  test("forged headers beside a session change nothing", async () => {
    expect(await whoIs({ ...forged, Cookie: ada.cookie })).toMatchObject({ status: 200, email: member, name: "" });
  });

  test("another address of the machine does not reach it", async () => {
    expect([await isRefused(port, "127.0.0.2"), await isRefused(port, "127.0.0.1")]).toEqual([true, false]);
  });

  test("the group decides", async () => {
    expect(await whoIs({ Cookie: bob.cookie })).toMatchObject({ status: 403, email: null });
  });

  test("the next person in the same browser is herself", async () => {
    const { cookie } = await whoIs({ Cookie: ada.cookie });
    expect(cookie).not.toBe("");
    expect(await whoIs({ Cookie: eve.cookie }, cookie)).toMatchObject({ email: other });
  });

  test("a logout ends it, whatever cookie of its own is left", async () => {
    const [before, { cookie }] = [ada.cookie, await whoIs({ Cookie: ada.cookie })];
    await ada.post("/logout", {});
    expect(await whoIs({ Cookie: before }, cookie)).toMatchObject({ status: 401, email: null });
  });
});

import { execFile } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isRoot, temporaryFolder } from "../deploy/host";
import { isRefused } from "../support/connections";
import type { Visitor } from "../support/visitor";
import { type Example, onOneHost, type ProxyName, register, startExample, startListening } from "./example";
import { recipeOf, withRecipe } from "./recipe";

const run = promisify(execFile);

/** What Debian enables of Apache for a site in PHP. */
const modules = ["mpm_prefork", "authz_core", "alias", "dir", "env", "mime", "rewrite", "setenvif"];
const page = "/icingaweb2/account";

/** Debian's files with folders of the test, and the lines of the recipe. @returns the configuration file of Apache */
async function install(folder: string, port: number, recipe: Record<string, string>): Promise<string> {
  const [settings, sessions] = [join(folder, "settings"), join(folder, "sessions")];
  for (const path of [settings, sessions]) {
    await mkdir(path);
    await chmod(path, 0o777);
  }
  await writeFile(join(settings, "authentication.ini"), recipe.ini ?? "");
  const site = await readFile("/etc/apache2/conf-available/icingaweb2.conf", "utf8");
  const file = join(folder, "apache.conf");
  const lines = [
    `ServerRoot ${folder}`,
    "ServerName localhost",
    `PidFile ${join(folder, "apache.pid")}`,
    `Mutex file:${folder}`,
    `ErrorLog ${join(folder, "error.log")}`,
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    "TypesConfig /dev/null",
    ...(isRoot ? ["User www-data", "Group www-data"] : []),
    "Include /etc/apache2/mods-available/php*.load",
    "Include /etc/apache2/mods-available/php*.conf",
    `php_admin_value session.save_path ${sessions}`,
    site.replace('"/etc/icingaweb2"', () => `"${settings}"`),
    recipe.apache?.replace("8000", String(port)),
  ];
  await writeFile(file, lines.join("\n"));
  return file;
}

describe.each<ProxyName>(["nginx", "caddy"])("Icinga Web behind %s", (proxy) => {
  const [member, guest, other] = ["ada@example.com", "bob@example.com", "eve@example.com"];
  let place: Awaited<ReturnType<typeof temporaryFolder>>;
  let example: Example;
  let port: number;
  let ada: Visitor;
  let bob: Visitor;
  let eve: Visitor;

  beforeAll(async () => {
    place = await temporaryFolder();
    const recipe = await recipeOf("Icinga Web");
    const { configuration, ...others } = await onOneHost(proxy);
    const changed = withRecipe(configuration, recipe);
    expect(changed).toContain("user=email&group=monitoring");
    example = await startExample({ ...others, configuration: changed }, async (free) => {
      port = free;
      const file = await install(place.folder, port, recipe);
      // At its end, Apache ends its process group.
      return startListening(["setsid", "apache2", "-D", "FOREGROUND", "-f", file], port, {});
    });
    ada = await register(example, member);
    bob = await register(example, guest);
    eve = await register(example, other);
    for (const email of [member, other]) await example.command("user", "groups", email, "--add", "monitoring");
  }, 120_000);

  afterAll(async () => {
    await example.stop();
    await place.remove();
  });

  /** The status, the person that its page names, and the cookie of its session. */
  async function whoIs(headers: Record<string, string>, path = page) {
    const words = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const { stdout } = await run("curl", ["-sS", "-i", ...words, example.url + path], { maxBuffer: 4_000_000 });
    return {
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(stdout)?.[1]),
      who: /user-ball">.<\/i>([^<]*)/.exec(stdout)?.[1] ?? null,
      cookie: /^set-cookie: (Icingaweb2=[^;]*)/im.exec(stdout)?.[1] ?? "",
    };
  }

  test("who signs in is that person there, with her address", async () => {
    expect(await whoIs({ Cookie: ada.cookie })).toMatchObject({ status: 200, who: member });
  });

  const forged = ["Remote-User", "Remote_User", "Remote.User", "REMOTE-USER", "Redirect-Remote-User"];

  test.each(forged)("a forged %s is nobody", async (name) => {
    expect(await whoIs({ [name]: other })).toMatchObject({ status: 401, who: null });
  });

  test.each(forged)("a forged %s beside a session changes nothing", async (name) => {
    expect(await whoIs({ Cookie: ada.cookie, [name]: other })).toMatchObject({ status: 200, who: member });
  });

  test("another address of the machine does not reach it", async () => {
    expect([await isRefused(port, "127.0.0.2"), await isRefused(port, "127.0.0.1")]).toEqual([true, false]);
  });

  test("the group decides", async () => {
    expect(await whoIs({ Cookie: bob.cookie })).toMatchObject({ status: 403, who: null });
  });

  test("the next person in the same browser is herself", async () => {
    const { cookie } = await whoIs({ Cookie: ada.cookie });
    expect(cookie).not.toBe("");
    expect(await whoIs({ Cookie: `${eve.cookie}; ${cookie}` })).toMatchObject({ status: 200, who: other });
  });

  test("its own logout ends nothing here", async () => {
    expect(await whoIs({ Cookie: ada.cookie }, "/icingaweb2/authentication/logout")).toMatchObject({ status: 401 });
    expect(await whoIs({ Cookie: ada.cookie })).toMatchObject({ status: 200, who: member });
  });

  test("a logout ends it, whatever cookie of its own is left", async () => {
    const [before, { cookie }] = [ada.cookie, await whoIs({ Cookie: ada.cookie })];
    await ada.post("/logout", {});
    expect(await whoIs({ Cookie: `${before}; ${cookie}` })).toMatchObject({ status: 401, who: null });
  });
});

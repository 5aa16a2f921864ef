import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../deploy/host";
import { isRefused } from "../support/connections";
import type { RunningProcess } from "../support/server";
import type { Visitor } from "../support/visitor";
import { type Example, onOneHost, type ProxyName, python, register, startExample, startListening } from "./example";
import { recipeOf, withRecipe } from "./recipe";

const run = promisify(execFile);

const principal = `<propfind xmlns="DAV:"><prop><current-user-principal/></prop></propfind>`;

const calendarProgram = `
import sys, caldav
url, token = sys.argv[1:]
principal = caldav.DAVClient(url, username="anything", password=token).principal()
calendar = principal.make_calendar(name="Work")
calendar.save_event("""BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//
BEGIN:VEVENT
UID:1@example.org
DTSTAMP:20261128T000000Z
DTSTART:20261129T100000Z
DTEND:20261129T110000Z
SUMMARY:Lamps
END:VEVENT
END:VCALENDAR
""")
for calendar in principal.calendars():
    for event in calendar.events():
        print(principal.url.path, event.vobject_instance.vevent.summary.value)
`;

describe.each<ProxyName>(["nginx", "caddy"])("Radicale behind %s", (proxy) => {
  const [member, guest] = ["ada@example.com", "bob@example.com"];
  let place: Awaited<ReturnType<typeof temporaryFolder>>;
  let example: Example;
  let radicale: RunningProcess;
  let port: number;
  let ada: Visitor;
  let bob: Visitor;

  beforeAll(async () => {
    place = await temporaryFolder();
    const recipe = await recipeOf("Radicale");
    const { configuration, settings, ...others } = await onOneHost(proxy);
    const changed = withRecipe(configuration, recipe);
    expect(changed).toContain("tokens=on&user=email&group=calendar");
    const file = join(place.folder, "radicale.ini");
    example = await startExample(
      { ...others, configuration: changed, settings: { ...settings, ACCESS_TOKENS: "on" } },
      async (free) => {
        port = free;
        const ini = recipe.ini?.replace(":8000", `:${port}`) ?? "";
        await writeFile(file, `${ini}[storage]\nfilesystem_folder = ${place.folder}\n`);
        radicale = await startListening(["radicale", "--debug", "--config", file], port, {});
        return radicale;
      },
    );
    [ada, bob] = [await register(example, member), await register(example, guest)];
    await example.command("user", "groups", member, "--add", "calendar");
  });

  afterAll(async () => {
    await example.stop();
    await place.remove();
  });

  /** Asks Radicale who one is there. */
  async function whoIs(headers: Record<string, string>, path = "/") {
    const words = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const asks = ["-X", "PROPFIND", "-H", "Depth: 0", "-d", principal, ...words, example.url + path];
    const { stdout } = await run("curl", ["-sS", "-w", "\n%{http_code}", ...asks]);
    const href = /<current-user-principal><href>(.*?)<\/href>/i.exec(stdout)?.[1] ?? null;
    return { status: Number(stdout.slice(-3)), who: href && decodeURIComponent(href) };
  }

  const forged = ["X-Remote-User", "X_Remote_User", "x-remote-user", "X-Remote_User", "Remote-User"];

  test("who signs in is that person there, with her address", async () => {
    expect(await whoIs({ Cookie: ada.cookie })).toEqual({ status: 207, who: `/${member}/` });
  });

  test.each(forged)("a forged %s is nobody", async (name) => {
    expect((await whoIs({ [name]: member })).status).toBe(401);
  });

  test.each(forged)("a forged %s beside a session changes nothing", async (name) => {
    expect(await whoIs({ Cookie: ada.cookie, [name]: guest })).toEqual({ status: 207, who: `/${member}/` });
  });

  test("another address of the machine does not reach it", async () => {
    expect([await isRefused(port, "127.0.0.2"), await isRefused(port, "127.0.0.1")]).toEqual([true, false]);
  });

  test("the group decides", async () => {
    expect((await whoIs({ Cookie: bob.cookie })).status).toBe(403);
  });

  test("a calendar program comes in with a token", async () => {
    const made = await example.command("user", "create-token", member, "--name", "Phone", "--origin", example.url);
    const words = ["-c", calendarProgram, `${example.url}/`];
    const { stdout } = await run(python, [...words, made.stdout.trim()]);
    expect(decodeURIComponent(stdout)).toBe(`/${member}/ Lamps\n`);
    await expect(run(python, [...words, `latchkey_${"A".repeat(43)}`])).rejects.toThrow("AuthorizationError");
  });

  test.each(["Authorization", "X-Latchkey-Token"])("it sees no token in %s", async (name) => {
    const made = await example.command("user", "create-token", member, "--name", name, "--origin", example.url);
    const token = made.stdout.trim();
    const header = { [name]: name === "Authorization" ? `Bearer ${token}` : token };
    expect(await whoIs(header)).toEqual({ status: 207, who: `/${member}/` });
    const { output } = radicale;
    expect(output()).toContain("'HTTP_X_REMOTE_USER'");
    expect(output()).not.toContain(`'HTTP_${name.toUpperCase().replaceAll("-", "_")}'`);
  });

  test("a logout ends it", async () => {
    const before = ada.cookie;
    await ada.post("/logout", {});
    expect((await whoIs({ Cookie: before })).status).toBe(401);
  });
});

import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { PostgresCluster } from "../support/postgres-cluster";
import { freePort, remixServeListens } from "../support/server";
import { Visitor } from "../support/visitor";
import { commandOf, copy, type Instruction, readStages } from "./containerfile";
import { asStranger, start, temporaryFolder } from "./host";
import { startMailServer } from "./mail-server";

// The last stage of deploy/Containerfile and the settings of the compose files, without an image: the production
// dependencies alone, as a user that owns nothing but the volume, in a folder that cannot be written, without HOME.

const execute = promisify(execFile);

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let cluster: PostgresCluster;
let app: string;
let data: string;
let final: Instruction[];

/** Where compose.embedded.yaml mounts its volume. */
const dataFolder = "/var/lib/latchkey";

const textOf = (name: string) => final.findLast((instruction) => instruction.name === name)?.text ?? "";

beforeAll(async () => {
  place = await temporaryFolder();
  cluster = await PostgresCluster.start();
  app = join(place.folder, "app");
  data = join(place.folder, "data");
  const [build = [], last = []] = await readStages("deploy/Containerfile");
  final = last;
  const commands = build.filter(({ name }) => name === "RUN").map(({ text }) => text.split(" "));
  expect(commands.map((words) => words.slice(0, 3))).toEqual([
    ["npm", "ci", "--no-audit"],
    ["npm", "run", "build"],
  ]);

  expect(textOf("RUN")).toMatch(/^npm ci --omit=dev --ignore-scripts /);
  const makeVolume = final.find(({ name }) => name === "RUN")?.text ?? "";
  await execute("sh", ["-euc", makeVolume.replace(dataFolder, data)]);
  await mkdir(app);
  await cp(join(inject("production"), "node_modules"), join(app, "node_modules"), { recursive: true });
  for (const { text } of final.filter(({ name }) => name === "COPY")) {
    await copy(text.replaceAll("/src/", ""), app);
  }
  await execute("chmod", ["-R", "a-w", app]);
});

afterAll(async () => {
  await cluster.remove();
  await execute("chmod", ["-R", "u+w", place.folder]);
  await place.remove();
});

test.each(["compose.yaml", "compose.embedded.yaml"])("the service of %s is healthy until it stops", async (file) => {
  const smtp = await startMailServer();
  const port = String(await freePort());
  const { latchkey: service } = parse(await readFile(`deploy/${file}`, "utf8")).services;
  const secrets: Record<string, string> = { "smtp-url": smtp.url };
  if (file === "compose.yaml") secrets["database-url"] = await cluster.createDatabase();
  expect(service.secrets.toSorted()).toEqual(Object.keys(secrets).toSorted());
  for (const [name, value] of Object.entries(secrets)) {
    await writeFile(join(place.folder, name), `${value}\n`);
    await chmod(join(place.folder, name), 0o444);
  }
  const settings = Object.entries(service.environment as Record<string, string>);
  const inPlace = (value: string) => value.replace("/run/secrets", place.folder).replace(dataFolder, data);
  const [imageName = "", imageValue = ""] = textOf("ENV").split("=");
  const environment = Object.fromEntries(settings.map(([name, value]) => [name, inPlace(value)]));
  const env = { [imageName]: imageValue, ...environment, PORT: port };
  expect(textOf("USER")).toBe("65532:65532");

  const latchkey = start([process.execPath, ...commandOf(textOf("CMD")).slice(1)], { cwd: app, env, ...asStranger });
  await latchkey.waitFor(remixServeListens);
  const [, ...check] = commandOf(textOf("HEALTHCHECK"));
  const health = () => execute(process.execPath, check, { env: { PORT: port, NODE_ENV: "production" } });
  await health();
  const url = `http://127.0.0.1:${port}`;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  await new Visitor(url).post("/register", { email: "grace@example.com" });
  expect(await smtp.token("Finish creating your account")).toMatch(/^[0-9a-f]{64}$/);

  const examined = execute(process.execPath, ["server/cli.js", "doctor", "--json"], {
    cwd: app,
    env: { NODE_ENV: "production", ...env },
    ...asStranger,
  });
  const { stdout } = await examined.catch((failed: { stdout: string }) => failed); // nothing is at APP_URL
  const checks: { name: string; status: string }[] = JSON.parse(stdout);
  const ofContainer = checks.filter(({ name }) => /^(?:settings|host|data folder|database|migrations)$/.test(name));
  expect(ofContainer.filter(({ status }) => status !== "ok")).toEqual([]);

  expect(await latchkey.stop()).toBe(0);
  await expect(health()).rejects.toMatchObject({ code: 1 });
});

test("without a database one line says that the folder cannot be written", async () => {
  const env = { NODE_ENV: "production", PORT: String(await freePort()) };
  const latchkey = start([process.execPath, "server/serve.js"], { cwd: app, env, ...asStranger });
  expect(await latchkey.ended).toBe(1);
  expect(latchkey.output()).toBe("The data folder ./data cannot be written: EACCES.\n");
});

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

// The last stage of deploy/Containerfile and the settings of deploy/compose.yaml, without an image: the production
// dependencies alone, as a user that owns nothing, in a folder that cannot be written, without HOME.

const execute = promisify(execFile);

let place: Awaited<ReturnType<typeof temporaryFolder>>;
let cluster: PostgresCluster;
let app: string;
let final: Instruction[];

const textOf = (name: string) => final.findLast((instruction) => instruction.name === name)?.text ?? "";

beforeAll(async () => {
  place = await temporaryFolder();
  cluster = await PostgresCluster.start();
  app = join(place.folder, "app");
  const [build = [], last = []] = await readStages("deploy/Containerfile");
  final = last;
  const commands = build.filter(({ name }) => name === "RUN").map(({ text }) => text.split(" "));
  expect(commands.map((words) => words.slice(0, 3))).toEqual([
    ["npm", "ci", "--no-audit"],
    ["npm", "run", "build"],
  ]);

  expect(textOf("RUN")).toMatch(/^npm ci --omit=dev --ignore-scripts /);
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

test("the service of compose.yaml is healthy until it stops", async () => {
  const smtp = await startMailServer();
  const port = String(await freePort());
  const secrets: Record<string, string> = { "database-url": await cluster.createDatabase(), "smtp-url": smtp.url };
  const { services } = parse(await readFile("deploy/compose.yaml", "utf8"));
  expect(services.latchkey.secrets).toEqual(Object.keys(secrets));
  for (const [name, value] of Object.entries(secrets)) {
    await writeFile(join(place.folder, name), `${value}\n`);
    await chmod(join(place.folder, name), 0o444);
  }
  const settings = Object.entries(services.latchkey.environment as Record<string, string>);
  const environment = settings.map(([name, value]) => [name, value.replace("/run/secrets", place.folder)]);
  const [imageName = "", imageValue = ""] = textOf("ENV").split("=");
  const env = { [imageName]: imageValue, ...Object.fromEntries(environment), PORT: port };
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

  expect(await latchkey.stop()).toBe(0);
  await expect(health()).rejects.toMatchObject({ code: 1 });
});

test("without a database one line says that the folder cannot be written", async () => {
  const env = { NODE_ENV: "production", PORT: String(await freePort()) };
  const latchkey = start([process.execPath, "server/serve.js"], { cwd: app, env, ...asStranger });
  expect(await latchkey.ended).toBe(1);
  expect(latchkey.output()).toBe("The data folder ./data cannot be written: EACCES.\n");
});

import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { parse } from "yaml";
import { PostgresCluster } from "../support/postgres-cluster";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider";
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
let provider: ScriptedProvider;
let app: string;
let final: Instruction[];

const textOf = (name: string) => final.findLast((instruction) => instruction.name === name)?.text ?? "";

/** Everything below a folder with its mode, size and time. */
async function survey(folder: string): Promise<string[]> {
  const paths = await readdir(folder, { recursive: true });
  const lines = await Promise.all(
    paths.map(async (path) => {
      const { mode, size, mtimeMs } = await stat(join(folder, path));
      return `${path} ${mode} ${size} ${mtimeMs}`;
    }),
  );
  return lines.sort();
}

beforeAll(async () => {
  place = await temporaryFolder();
  [cluster, provider] = await Promise.all([PostgresCluster.start(), startScriptedProvider()]);
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
  await provider.stop();
  await cluster.remove();
  await execute("chmod", ["-R", "u+w", place.folder]);
  await place.remove();
});

test("a reset, an external sign-in and a stop, and nothing is written into the folder", async () => {
  const smtp = await startMailServer();
  const port = String(await freePort());
  const secrets: Record<string, string> = {
    "database-url": await cluster.createDatabase(),
    "smtp-url": smtp.url,
  };
  const { services } = parse(await readFile("deploy/compose.yaml", "utf8"));
  expect(services.latchkey.secrets).toEqual(Object.keys(secrets));
  for (const [name, value] of Object.entries(secrets)) {
    await writeFile(join(place.folder, name), `${value}\n`);
    await chmod(join(place.folder, name), 0o444);
  }
  const settings = Object.entries(services.latchkey.environment as Record<string, string>);
  const environment = settings.map(([name, value]) => [name, value.replace("/run/secrets", place.folder)]);
  const [imageName = "", imageValue = ""] = textOf("ENV").split("=");
  const env = { [imageName]: imageValue, ...Object.fromEntries(environment), ...provider.settings.oidc, PORT: port };
  expect(textOf("USER")).toBe("65532:65532");
  const before = await survey(app);

  const latchkey = start([process.execPath, ...commandOf(textOf("CMD")).slice(1)], { cwd: app, env, ...asStranger });
  await latchkey.waitFor(remixServeListens);
  const [, ...check] = commandOf(textOf("HEALTHCHECK"));
  const health = () => execute(process.execPath, check, { env: { PORT: port, NODE_ENV: "production" } });
  await health();
  const url = `http://127.0.0.1:${port}`;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  const email = "grace@example.com";
  const visitor = new Visitor(url);
  await visitor.post("/register", { email });
  const registered = await visitor.finishRegistration({
    email,
    token: await smtp.token("Finish creating your account"),
  });
  expect(registered.location).toBe("/dashboard");
  await visitor.askForReset(email);
  const reset = await visitor.reset({ email, token: await smtp.token("Reset your password") });
  expect(reset.location).toBe("/login?notice=password_reset");
  await smtp.token("Your password was changed");
  expect(await new Visitor(url).signInExternally()).toMatchObject({ status: 302, location: "/dashboard" });

  expect(await latchkey.stop()).toBe(0);
  await expect(health()).rejects.toMatchObject({ code: 1 });
  expect(await survey(app)).toEqual(before);
});

test("without a database, one line says that the folder cannot be written", async () => {
  const env = { NODE_ENV: "production", PORT: String(await freePort()) };
  const latchkey = start([process.execPath, "server/serve.js"], { cwd: app, env, ...asStranger });
  expect(await latchkey.ended).toBe(1);
  expect(latchkey.output()).toBe("The data folder ./data cannot be written: EACCES.\n");
});

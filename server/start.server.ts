import { existsSync } from "node:fs";
import net from "node:net";
import { type Config, ConfigurationError, loadConfig } from "./config.server";
import { inTurn, migrate, openDatabase } from "./database.server";
import { openFrontDoor } from "./front-door";
import { handleJob } from "./job-handlers";
import { JobQueue, unrelatedDelay } from "./jobs";
import { describe, log } from "./log";
import { provideService } from "./service";
import { StartError } from "./start-error";

const patience = 9_000; // ms, for what runs at SIGTERM

/** remix-serve would take another port, silently, and the mailed links would point elsewhere. */
function assertPortIsFree(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => {
      reject(new StartError(`Port ${port} cannot be used: ${error.code}.`));
    });
    probe.listen(port, process.env.HOST, () => probe.close(() => resolve()));
  });
}

function stopOnSignal(stop: () => Promise<void>): void {
  const onSignal = () => {
    setTimeout(() => process.exit(1), patience).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error(describe(error), "The service did not stop cleanly.");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", onSignal);
  process.once("SIGINT", onSignal);
}

function announce({ appUrl, mail, identityProvider }: Config): void {
  const signIn = identityProvider ? identityProvider.provider : "off";
  log.info({ appUrl, mail: mail.driver, externalSignIn: signIn }, `Latchkey is at ${appUrl}`);
}

async function bringUp(): Promise<void> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const config = loadConfig(process.env);
  await assertPortIsFree(config.port);
  const frontDoor = openFrontDoor(config);
  const database = await openDatabase(config.databaseUrl);
  const queue = new JobQueue(database.orm, handleJob, unrelatedDelay);
  await inTurn(database, async (patient) => {
    await migrate(patient);
    await queue.open();
  });
  provideService({ config, orm: database.orm, queue });
  queue.work();
  stopOnSignal(async () => {
    await Promise.all([frontDoor.close(), queue.stop()]);
    await database.close();
  });
  announce(config);
}

const holder = globalThis as { latchkeyStart?: Promise<void> };

/**
 * Brings the service up, once in a process: configuration, front door, database, migrations, queue. What makes that
 * impossible is said in one message, and ends the process with status 1.
 */
export function start(): Promise<void> {
  holder.latchkeyStart ??= bringUp().catch((error: unknown) => {
    if (!(error instanceof ConfigurationError || error instanceof StartError)) throw error;
    console.error(error.message);
    process.exit(1);
  });
  return holder.latchkeyStart;
}

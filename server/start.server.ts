import { existsSync } from "node:fs";
import net from "node:net";
import { type Config, loadConfig, provideConfig } from "./config";
import { openDatabase } from "./database/orm";
import { provideOrm } from "./database/unit-of-work";
import { StartError } from "./errors";
import { prepareSchema } from "./features/schema.server";
import { resumeSession } from "./features/sessions.server";
import { openFrontDoor } from "./http/front-door";
import { handleJob } from "./job-handlers";
import { errorFields, log } from "./log";
import { closeMailer, createMailer, provideMailer } from "./mail/mailer";
import { processValue } from "./process-value";
import { randomDelay } from "./queue/delay";
import { JobQueue, provideQueue } from "./queue/job-queue";

const shutdownLimit = 9_000; // ms, for the requests and jobs that run at SIGTERM
const mailLimit = 7_000; // ms of them, for the mails that are being sent; afterwards they fail and are retried

/** remix-serve would silently take another port, and the mailed links would point to the wrong one. */
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
    setTimeout(() => process.exit(1), shutdownLimit).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        log.error(errorFields(error), "The service did not stop cleanly.");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", onSignal);
  process.once("SIGINT", onSignal);
}

function logStart({ appUrl, mail, identityProvider }: Config): void {
  const externalSignIn = identityProvider ? identityProvider.provider : "off";
  log.info({ appUrl, mail: mail.driver, externalSignIn }, `Latchkey is at ${appUrl}`);
}

async function startService(): Promise<void> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const config = loadConfig(process.env);
  provideConfig(config);
  provideMailer(createMailer(config.mail));
  await assertPortIsFree(config.port);
  const frontDoor = openFrontDoor(config, async (token) => (await resumeSession(token))?.user ?? null);
  const database = await openDatabase(config.databaseUrl);
  const queue = new JobQueue(database.orm, handleJob, randomDelay);
  await prepareSchema(database, queue);
  provideOrm(database.orm);
  provideQueue(queue);
  queue.work();
  stopOnSignal(async () => {
    const overdue = setTimeout(closeMailer, mailLimit);
    await Promise.all([frontDoor.close(), queue.stop()]);
    clearTimeout(overdue);
    await closeMailer();
    await database.close();
  });
  logStart(config);
}

const started = processValue<Promise<void>>("start");

/**
 * Starts the service, once in a process: configuration, front door, database, migrations, queue. A reason not to start
 * is printed as one message, and the process ends with status 1.
 */
export function start(): Promise<void> {
  started.current ??= startService().catch((error: unknown) => {
    if (!(error instanceof StartError)) throw error;
    console.error(error.message);
    process.exit(1);
  });
  return started.current;
}

import cluster from "node:cluster";
import { existsSync } from "node:fs";
import { hashesWaiting } from "./accounts/passwords/password-hashing";
import { holdDatabase } from "./commands/open-database";
import { type Config, loadConfig, setConfig } from "./config";
import { folderOf } from "./database/embedded";
import { type Database, openDatabase, poolUse } from "./database/orm";
import { setOrm } from "./database/unit-of-work";
import { openFrontDoor } from "./door/front-door";
import { openMetrics } from "./door/metrics-registry";
import { openMetricsServer } from "./door/metrics-server";
import { assertPortIsFree } from "./door/ports";
import { endpointOf } from "./endpoints/endpoints";
import { identityFinders } from "./features/application/identity";
import { handleWebhook } from "./features/application/webhooks";
import { schedulePurge } from "./features/operator/purge";
import { prepareSchema } from "./features/operator/schema";
import { countSessions } from "./features/owner/own-sessions";
import { handleJob } from "./job-handlers";
import { errorFields, log } from "./log";
import { closeMailer, createMailer, setMailer } from "./mail/mailer";
import { failToStart, onStopSignal, shutdownLimit } from "./process/exit";
import type { RouteOf } from "./process/metrics";
import { processValue } from "./process/value";
import { JobQueue, randomDelay, setQueue } from "./queue/job-queue";
import { plainIssuerWarning } from "./settings/combinations";
import { ignoredSettings } from "./settings/read-settings";

const mailLimit = 7_000; // ms of the shutdown limit, for mails that are being sent; later they fail and are retried

const started = processValue<Promise<void>>("start");

/** Starts the service, once in a process. If it cannot start, prints the reason and ends the process with status 1. */
export function start(routeOf: RouteOf): Promise<void> {
  started.current ??= startService(routeOf).catch(failToStart);
  return started.current;
}

async function startService(routeOf: RouteOf): Promise<void> {
  if (existsSync(".env")) process.loadEnvFile(".env");
  const config = loadConfig(process.env);
  setConfig(config);
  if ((cluster.worker?.id ?? 1) === 1) warnOfSettings(config);
  setMailer(createMailer(config.mail));
  if (cluster.isPrimary) await assertPortIsFree(config);
  const frontDoor = openFrontDoor(config, { ...identityFinders(), endpointOf, routeOf });
  const database = await openDatabase(config.databaseUrl, config.databaseDirectUrl);
  const queue = new JobQueue(database.orm, randomDelay);
  await prepareSchema(database, queue);
  setOrm(database.orm);
  setQueue(queue);
  if (config.metrics) {
    const pool = () => poolUse(database.orm);
    const sessions = config.deviceBoundSessions ? countSessions : null;
    const registry = await openMetrics({ hashesWaiting, pool, jobs: () => queue.waiting(), sessions });
    if (!cluster.isWorker) await openMetricsServer(config.metrics, registry);
  }
  const folder = folderOf(config.databaseUrl);
  const endCommands = folder === null ? () => {} : await takeCommands(folder, database);
  if (folder !== null) await queue.repeatInterrupted();
  queue.work(handleJob, config.webhook && handleWebhook);
  const endPurging = schedulePurge();
  stopOnSignal(async () => {
    const overdue = setTimeout(closeMailer, mailLimit);
    endPurging();
    await Promise.all([frontDoor.close(), queue.stop()]);
    clearTimeout(overdue);
    await closeMailer();
    endCommands();
    await database.close();
  });
  void frontDoor.listening.then(() => reportStart(config));
  process.send?.("started"); // to server/processes.ts
}

function warnOfSettings({ identityProvider }: Config): void {
  const warn = process.stdout.isTTY ? console.error : log.warn.bind(log);
  const problems = [...ignoredSettings(process.env), ...plainIssuerWarning(identityProvider?.issuer)];
  for (const problem of problems) warn(`${problem}.`);
}

/** Commands for the embedded database, which this process alone can open. */
async function takeCommands(folder: string, database: Database): Promise<() => void> {
  const { openCommandSocket } = await import("./commands/beside-service");
  holdDatabase(database);
  const close = await openCommandSocket(folder, async (words) =>
    (await import("./commands/command-line")).runCommand(words),
  );
  return () => {
    close();
    holdDatabase(undefined);
  };
}

function stopOnSignal(stop: () => Promise<void>): void {
  onStopSignal(async () => {
    setTimeout(() => {
      log.error(`The service is ended: requests or jobs still run ${shutdownLimit / 1_000} seconds after the signal.`);
      process.exit(1);
    }, shutdownLimit).unref();
    try {
      await stop();
      process.exit(0);
    } catch (error) {
      log.error(errorFields(error), "The service did not stop cleanly.");
      process.exit(1);
    }
  });
}

function reportStart(config: Config): void {
  const { appUrl, mail, identityProvider } = config;
  if (process.stdout.isTTY && !cluster.isWorker) return void process.stdout.write(welcome(config));
  const externalSignIn = identityProvider?.provider ?? "off";
  log.info({ appUrl, mail: mail.driver, externalSignIn }, `Latchkey is at ${appUrl}`);
}

/** The last lines of a start, for a person at a terminal. */
export function welcome(config: Pick<Config, "appUrl" | "mail" | "registration" | "passwords">): string {
  const { appUrl, mail, registration, passwords } = config;
  return [
    mail.driver === "log" ? "Mails and their links appear here." : `Mails are sent by ${mail.driver}.`,
    `Open ${appUrl}${passwords.on && registration.mode !== "closed" ? "/register" : "/login"}`,
    "",
  ].join("\n");
}

import type { MailConfig } from "../config";
import { MailRefused } from "../errors";
import type { LoggedEvent } from "../events/events";
import { logEvent } from "../log";
import type { Message } from "../mail-services/service";
import { countMail } from "../process/metrics";
import { requiredValue } from "../process/value";
import { httpMailer } from "./http-mailer";
import { logMailer } from "./log-mailer";
import type { Mailer } from "./mail";
import { RecentCalls } from "./recent-calls";
import { smtpMailer } from "./smtp-mailer";

export function createMailer(config: MailConfig): Mailer {
  if (config.driver === "log") return logMailer(config.from);
  return config.driver === "smtp" ? smtpMailer(config) : httpMailer(config);
}

interface Calls {
  mailer: Mailer;
  recentCalls: RecentCalls;
}

const [provide, current] = requiredValue<Calls>("mailer", "No mail driver has been created.");

export const setMailer = (mailer: Mailer): void => provide({ mailer, recentCalls: new RecentCalls() });

/** @throws MailRefused when the mail service refuses the message for good, else another Error */
export async function sendMail(to: string, message: Message): Promise<"sent"> {
  const { mailer, recentCalls } = current();
  try {
    await recentCalls.make(() => mailer.send({ to, ...message }));
  } catch (error) {
    countMail(error instanceof MailRefused ? "refused" : "failed");
    throw error;
  }
  countMail("sent");
  return "sent";
}

/**
 * Stands in for the call of a job without a mail, which must not tell who has an account. It takes as long as a recent
 * call to the mail service and fails as that call did, so the job keeps its place in the queue and is retried like one
 * with a mail. A mail that was refused for good ended its job, so it is no failure here. @throws SimulatedFailure
 */
export async function simulateMail(): Promise<"simulated"> {
  await current().recentCalls.simulate();
  return "simulated";
}

/** Makes a mail's call log `event` after it has succeeded. */
export const thenLog = (call: () => Promise<"sent" | "simulated">, event: LoggedEvent) => async () => {
  const outcome = await call();
  logEvent(event);
  return outcome;
};

export const verifyMailer = (): Promise<void> => current().mailer.verify();

/** Mails that are being sent fail. */
export const closeMailer = async (): Promise<void> => current().mailer.close?.();

import type { MailConfig } from "../config";
import { MailRefused } from "../errors";
import { countMail } from "../metrics";
import { processValue } from "../process-value";
import { httpMailer } from "./http-mailer";
import { logMailer } from "./log-mailer";
import type { Mailer, Message } from "./mail";
import { RecentCalls } from "./recent-calls";
import { smtpMailer } from "./smtp-mailer";

export function createMailer(config: MailConfig): Mailer {
  switch (config.driver) {
    case "log":
      return logMailer(config.from);
    case "smtp":
      return smtpMailer(config);
    default:
      return httpMailer(config);
  }
}

const provided = processValue<{ mailer: Mailer; recentCalls: RecentCalls }>("mailer");

export function provideMailer(mailer: Mailer): void {
  provided.current = { mailer, recentCalls: new RecentCalls() };
}

function current() {
  if (!provided.current) throw new Error("No mail driver has been created.");
  return provided.current;
}

/** @throws MailRefused when the mail service refuses the message for good, else another Error */
export async function sendMail(to: string, message: Message): Promise<void> {
  const { mailer, recentCalls } = current();
  try {
    await recentCalls.make(() => mailer.send({ to, ...message }));
  } catch (error) {
    countMail(error instanceof MailRefused ? "refused" : "failed");
    throw error;
  }
  countMail("sent");
}

/**
 * What a job does that has no mail to send, because of who has an account: it takes as long as a recent call to the mail
 * service, and fails as that call did, so that it keeps its place in the queue, and is retried, as a job with a mail would
 * be. A call that was refused for good ended its job, so it is not a failure here. @throws SimulatedFailure
 */
export const simulateMail = (): Promise<void> => current().recentCalls.simulate();

export const verifyMailer = (): Promise<void> => current().mailer.verify();

/** A mail that is being sent fails. */
export const closeMailer = async (): Promise<void> => provided.current?.mailer.close?.();

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
    case "resend":
    case "postmark":
      return httpMailer(config);
  }
}

const provided = processValue<{ mailer: Mailer; recentCalls: RecentCalls }>("mailer");

/** Makes a driver the one of this process. */
export function provideMailer(mailer: Mailer): void {
  provided.current = { mailer, recentCalls: new RecentCalls() };
}

function current() {
  if (!provided.current) throw new Error("No mail driver has been created.");
  return provided.current;
}

/**
 * Sends one message through the driver of this process.
 *
 * @throws MailRefused when the mail service refuses it for good
 * @throws Error when the mail service did not accept it
 */
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
 * What a job does that has no mail to send, because of who has an account: it takes as long as a recent call to the
 * mail service, and fails as that call did, so that it keeps its place in the queue, and is retried, as a job with a
 * mail would be. A call that was refused for good ended its job, so it is not a failure here.
 *
 * @throws SimulatedFailure
 */
export function simulateMail(): Promise<void> {
  return current().recentCalls.simulate();
}

/**
 * Asks the mail service of this process, without a mail, whether it would take one.
 *
 * @throws Error
 */
export function verifyMailer(): Promise<void> {
  return current().mailer.verify();
}

/** Closes the driver of this process. A mail that is being sent fails. */
export async function closeMailer(): Promise<void> {
  await provided.current?.mailer.close?.();
}

import type { MailConfig } from "../config";
import { processValue } from "../process-value";
import { logMailer } from "./log-mailer";
import type { Mailer, Message } from "./mail";
import { postmarkMailer } from "./postmark-mailer";
import { RecentCalls } from "./recent-calls";
import { resendMailer } from "./resend-mailer";

export function createMailer(config: MailConfig): Mailer {
  switch (config.driver) {
    case "log":
      return logMailer(config.from);
    case "resend":
      return resendMailer(config);
    case "postmark":
      return postmarkMailer(config);
  }
}

const provided = processValue<{ send: Mailer; recentCalls: RecentCalls }>("mailer");

/** Makes a driver the one of this process. */
export function provideMailer(send: Mailer): void {
  provided.current = { send, recentCalls: new RecentCalls() };
}

function current() {
  if (!provided.current) throw new Error("No mail driver has been created.");
  return provided.current;
}

/**
 * Sends one message through the driver of this process.
 *
 * @throws CallError when the mail service did not accept it
 */
export function sendMail(to: string, message: Message): Promise<void> {
  const { send, recentCalls } = current();
  return recentCalls.make(() => send({ to, ...message }));
}

/**
 * What a job does that has no mail to send, because of who has an account: it takes as long as a recent call to the
 * mail service, and fails as that call did, so that it keeps its place in the queue, and is retried, as a job with a
 * mail would be.
 *
 * @throws CallError
 */
export function simulateMail(): Promise<void> {
  return current().recentCalls.simulate();
}

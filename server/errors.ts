import type { MailRefusal } from "./events";

/** A reason not to start, in one message for the operator; no stack trace is printed. */
export class StartError extends Error {
  override name = "StartError";
}

/** The database cannot be reached, or does not answer in time. The same work may succeed later. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

/** Too many hashes wait already. The same work may succeed in a moment. */
export class HashingOverloaded extends Error {
  override name = "HashingOverloaded";
}

/** The mail service refused a mail for good: the same mail, sent again, would be refused again. */
export class MailRefused extends Error {
  override name = "MailRefused";
  readonly reason: MailRefusal;

  constructor(reason: MailRefusal) {
    super(reason);
    this.reason = reason;
  }
}

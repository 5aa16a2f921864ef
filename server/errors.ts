import type { MailRefusal } from "./events/events";
import type { CallFailureReason, ExternalSignInFailure, SignInStep } from "./events/sign-in-failures";

/** A reason not to start, in one message for the operator. */
export class StartError extends Error {
  override name = "StartError";
}

/** Two processes on the folder of an embedded database would lose committed rows. */
export class FolderInUse extends StartError {
  constructor(readonly folder: string) {
    super(`The data folder ${folder} is in use by another process.`);
  }
}

/** The database cannot be reached, or does not answer in time. The same work may succeed later. */
export class DatabaseUnavailable extends Error {
  override name = "DatabaseUnavailable";
}

/** Too many passwords wait to be hashed. The same work may succeed in a moment. */
export class HashingOverloaded extends Error {
  override name = "HashingOverloaded";
}

/** The browser could not prove that the session is on its device. It may succeed in a moment. */
export class SessionNotRefreshed extends Error {
  override name = "SessionNotRefreshed";
}

/** An error whose reason is a fixed word, which may be logged. */
export class ErrorWithReason<Reason extends string = string> extends Error {
  constructor(readonly reason: Reason) {
    super(reason);
  }
}

/**
 * A call to another service failed. Of the request and the answer, it holds only an error code: the service's own or,
 * if the service is unreachable, that of the system or of TLS, e.g. `ECONNREFUSED`.
 */
export class CallError extends ErrorWithReason<CallFailureReason> {
  override name = "CallError";
  step: SignInStep | undefined;

  constructor(
    reason: CallFailureReason,
    readonly code?: string | number | undefined,
    /** The answer's status; `undefined` without an answer. */
    readonly status?: number,
  ) {
    super(reason);
  }
}

export class ExternalSignInError extends ErrorWithReason<ExternalSignInFailure> {
  override name = "ExternalSignInError";
}

/** The mail service refused a mail for good: the same mail, sent again, would be refused again. */
export class MailRefused extends ErrorWithReason<MailRefusal> {
  override name = "MailRefused";
}

/** A job without a mail fails because a recent call to the mail service failed. No mail is lost. */
export class SimulatedFailure extends Error {
  override name = "SimulatedFailure";
}

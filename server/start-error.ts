/** A reason not to start, in one message for the operator; no stack trace is printed. */
export class StartError extends Error {
  override name = "StartError";
}

/** A reason not to start: one line for the operator, who gets no stack trace. */
export class StartError extends Error {
  override name = "StartError";
}

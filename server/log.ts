import { pino } from "pino";
import { ErrorWithReason } from "./errors";
import type { LoggedEvent } from "./events/events";
import { askingTerminal, context } from "./process/context";
import { countEvent } from "./process/metrics";

/** A command may have woken the worker, and its terminal must not see the lines of other accounts' jobs. */
export const duringJob = <T>(jobId: string, work: () => T): T => context.run({ jobId }, work);

let stream: OutputStream = process.stdout;
let output: ReturnType<typeof openOutput> | undefined;

/**
 * Logs to standard error from here on; only errors, if that is a terminal. Marks every line that `work` logs as an
 * operator's.
 */
export function duringCommand<T>(work: () => T): T {
  stream = process.stderr;
  if (stream.isTTY) log.level = "error";
  return context.run({ actor: "cli" }, work);
}

/** The events of a command, until they are enqueued for the service, which logs them too. */
export const commandEvents: LoggedEvent[] = [];

export function logEvent(event: LoggedEvent): void {
  log.info(event);
  countEvent(event);
  if (stream === process.stderr) commandEvents.push(event);
}

/** For a line that a stranger can cause at will. @returns a function that is true at most once a minute */
export function onceAMinute(): () => boolean {
  let next = 0;
  return () => {
    if (Date.now() < next) return false;
    next = Date.now() + 60_000;
    return true;
  };
}

/** Logs an unexpected error and where it was thrown, without its message, which may quote what a client sent. */
export function logUnexpected(error: unknown): void {
  log.error(
    { ...errorFields(error), stack: error instanceof Error ? framesOf(error) : undefined },
    "Unexpected error.",
  );
}

export const log = pino(
  { base: null, timestamp: pino.stdTimeFunctions.isoTime, mixin: correlation },
  {
    write(line: string) {
      output ??= openOutput(stream);
      output.write(line);
      const { err } = askingTerminal() ?? {};
      if (err && (!err.isTTY || /^\{"level":[56]0,/.test(line))) err.write(line);
    },
  },
);

type OutputStream = NodeJS.WriteStream & { fd: number };

/** A line that cannot be written is lost: pino's own destination waits forever for a full disk (sonic-boom 4.2). */
function openOutput(stream: OutputStream): { write(line: string): void } {
  if (process.env.NODE_ENV !== "development") return stream.on("error", () => {});
  return pino.transport({ target: "pino-pretty", options: { ignore: "requestId,jobId", destination: stream.fd } });
}

function correlation() {
  const current = context.getStore();
  if (!current || "jobId" in current) return { ...current };
  return "actor" in current ? { actor: current.actor } : { requestId: current.requestId };
}

export type ErrorFields = ReturnType<typeof errorFields>;

/** An error's name, reason and code, without its message: drivers quote parameters and addresses there. */
export function errorFields(error: unknown) {
  if (!(error instanceof Error)) return { error: typeof error };
  return {
    error: error.name,
    ...(error instanceof ErrorWithReason && { reason: error.reason }),
    ...("code" in error && { code: error.code }),
  };
}

const frame = /^ {4}at .+:\d+:\d+\)?$/;

/** Without the message, of which a line may look like a frame. */
const framesOf = ({ stack, message }: Error) =>
  stack
    ?.replace(message, "")
    .split("\n")
    .filter((line) => frame.test(line))
    .map((line) => line.trim());

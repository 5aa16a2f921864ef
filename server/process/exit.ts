import { StartError } from "../errors";

export const stopSignals = ["SIGTERM", "SIGINT"] as const;

export const shutdownLimit = 9_000; // ms, for the requests and jobs that run at the signal

/** Calls `stop` at the first signal; others have no effect: at a second one, remix-serve would print an error. */
export function onStopSignal(stop: () => void): void {
  const onSignal = () => {
    for (const signal of stopSignals) process.removeAllListeners(signal).on(signal, () => {});
    stop();
  };
  for (const signal of stopSignals) process.once(signal, onSignal);
}

/** Prints why the service cannot start, and ends the process. @throws every error but a StartError */
export function failToStart(error: unknown): never {
  if (!(error instanceof StartError)) throw error;
  console.error(error.message);
  process.exit(1);
}

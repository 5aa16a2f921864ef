export const stopSignals = ["SIGTERM", "SIGINT"] as const;

export const shutdownLimit = 9_000; // ms, for the requests and jobs that run at the signal

/**
 * Calls `stop` at the first SIGTERM or SIGINT; others have no effect. A terminal signals every process besides the
 * primary one of PROCESSES: at a second signal, remix-serve would print an error.
 */
export function onStopSignal(stop: () => void): void {
  const onSignal = () => {
    for (const signal of stopSignals) process.removeAllListeners(signal).on(signal, () => {});
    stop();
  };
  for (const signal of stopSignals) process.once(signal, onSignal);
}

const stopSignals: readonly string[] = ["SIGTERM", "SIGINT"];

export const shutdownLimit = 9_000; // ms, for the requests and jobs that run at the signal

export const isStopSignal = (signal: string | null) => signal !== null && stopSignals.includes(signal);

/**
 * Calls `stop` at the first SIGTERM or SIGINT; others have no effect. systemd and a terminal signal every process, and
 * the primary process of PROCESSES signals its workers besides: remix-serve, which listens too, would print an error.
 */
export function onStopSignal(stop: () => void): void {
  let stopping = false;
  const onSignal = () => {
    if (stopping) return;
    stopping = true;
    // The signal that is being emitted still reaches them.
    for (const signal of stopSignals) {
      for (const listener of process.listeners(signal as NodeJS.Signals)) {
        if (listener !== onSignal) process.off(signal, listener);
      }
    }
    stop();
  };
  for (const signal of stopSignals) process.on(signal, onSignal);
}

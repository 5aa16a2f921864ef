import { type PoolOptions, type PoolWorker, ThreadsPoolWorker, type WorkerRequest } from "vitest/node";

// Vitest starts a thread for each test file of each run, and loading the packages there takes longer than most tests.
// A thread evaluates the service's own modules anew for each test file, so one thread can run many files.
// Read in Vitest 4.1.11: a thread takes the message `start` again.

const mostRuns = 100; // after which a thread is replaced: each run leaves some memory in use

interface Thread {
  worker: ThreadsPoolWorker;
  runs: number;
}

let kept: Thread | undefined;

type Listener = (arg: unknown) => void;

/** A worker of Vitest's pool that passes its thread on to the next worker. */
export class KeptThread implements PoolWorker {
  static readonly poolName = "kept-thread";
  readonly name = KeptThread.poolName;
  readonly #options: PoolOptions;
  readonly #listeners: [string, Listener][] = [];
  #thread: Thread | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const thread = kept ?? { worker: new ThreadsPoolWorker(this.#options), runs: 0 };
    if (!kept) await thread.worker.start();
    kept = undefined;
    thread.runs++;
    this.#thread = thread;
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push([event, listener]);
    this.#thread?.worker.on(event, listener);
  }

  off(event: string, listener: Listener): void {
    this.#thread?.worker.off(event, listener);
  }

  send(message: WorkerRequest): void {
    const thread = this.#thread;
    if (message.type !== "stop" || !thread || thread.runs >= mostRuns) {
      thread?.worker.send(message);
      return;
    }
    for (const [event, listener] of this.#listeners) thread.worker.off(event, listener);
    this.#thread = undefined;
    kept = thread;
    const stopped = { type: "stopped", __vitest_worker_response__: true };
    for (const [event, listener] of this.#listeners) if (event === "message") listener(stopped);
  }

  async stop(): Promise<void> {
    await this.#thread?.worker.stop();
    this.#thread = undefined;
  }

  deserialize(data: unknown): unknown {
    return data;
  }
}

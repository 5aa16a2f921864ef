import { setTimeout } from "node:timers/promises";
import { MailRefused } from "../errors";

const remembered = 16; // calls

interface Outcome {
  duration: number; // ms
  failure?: unknown;
}

/** The last calls to the mail service, those included that still run. */
export class RecentCalls {
  readonly #outcomes: Promise<Outcome>[] = [];

  /** Makes a call and remembers how long it takes and how it ends. */
  async make(call: () => Promise<void>): Promise<void> {
    const start = performance.now();
    const duration = () => performance.now() - start;
    const outcome = call().then(
      () => ({ duration: duration() }),
      (failure: unknown) => ({ duration: duration(), failure }),
    );
    this.#outcomes.push(outcome);
    if (this.#outcomes.length > remembered) this.#outcomes.shift();
    await end(outcome);
  }

  /**
   * Takes as long as one of the calls and ends as it did. A call that still runs counts: by finished ones alone, a
   * service that stalls would be known only after its first timeout.
   *
   * @throws what that call threw, unless the mail was refused for good
   */
  async simulate(): Promise<void> {
    const start = performance.now();
    const outcome = this.#outcomes[Math.floor(Math.random() * this.#outcomes.length)];
    if (!outcome) return;
    const { duration, failure } = await outcome;
    await setTimeout(duration - (performance.now() - start));
    if (!(failure instanceof MailRefused)) await end(outcome);
  }
}

async function end(outcome: Promise<Outcome>): Promise<void> {
  const ended = await outcome;
  if ("failure" in ended) throw ended.failure;
}

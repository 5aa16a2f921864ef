import timers from "node:timers/promises";
import { MailRefused, SimulatedFailure } from "../errors";

const remembered = 16; // calls

/** The last calls to the mail service, those included that still run. */
export class RecentCalls {
  readonly #outcomes: Promise<{ duration: number; failure?: unknown }>[] = [];

  async make(call: () => Promise<void>): Promise<void> {
    const start = performance.now();
    const duration = () => performance.now() - start;
    const outcome = call().then(
      () => ({ duration: duration() }),
      (failure: unknown) => ({ duration: duration(), failure }),
    );
    this.#outcomes.push(outcome);
    if (this.#outcomes.length > remembered) this.#outcomes.shift();
    const ended = await outcome;
    if ("failure" in ended) throw ended.failure;
  }

  /** Calls that still run count, so that a stalled service shows before a timeout. @throws SimulatedFailure */
  async simulate(): Promise<void> {
    const start = performance.now();
    const outcome = this.#outcomes[Math.floor(Math.random() * this.#outcomes.length)];
    if (!outcome) return;
    const ended = await outcome;
    await timers.setTimeout(ended.duration - (performance.now() - start));
    if ("failure" in ended && !(ended.failure instanceof MailRefused)) throw new SimulatedFailure();
  }
}

/** How long a job waits before it starts, in ms: a random time between the two. */
export interface Delay {
  from: number;
  to: number;
}

/** Before now: pg-boss fetches jobs that were due earlier, and PGlite's clock has a resolution of one millisecond. */
export const noDelay: Delay = { from: -1, to: -1 };

/** The delay as pg-boss's interval text: as a number, pg-boss takes a negative one for none. */
export const startAfter = (delay: number) => `${delay / 1000}`;

/**
 * A job for a known address does more work than one for an unknown address. Started at once, it would slow down the
 * answer to its own request, or to the next one, and the time would tell which addresses have an account. A random
 * delay that is long against a request spreads that work over unrelated requests.
 */
export const randomDelay: Delay = { from: 50, to: 450 };

import { AsyncResource } from "node:async_hooks";

const mostPassed = 32; // turns

/**
 * Returns a function that runs each `start` in a turn of the event loop of its own, in the order of the calls. Requests that
 * arrive together would otherwise all begin in one turn, and nothing else would be answered until they had.
 *
 * While calls come in, up to 32 turns pass before the next start. libuv accepts one connection in a turn (since 1.45,
 * libuv/libuv#3696): behind 300 others, a new client would wait until almost all of their requests had begun.
 */
export function onePerTurn(): (start: () => void) => void {
  const waiting: (() => void)[] = [];
  let comesIn = false;
  let passed = 0;
  const startNext = () => {
    const passes = comesIn && passed < mostPassed;
    comesIn = false;
    passed = passes ? passed + 1 : 0;
    const start = passes ? undefined : waiting.shift();
    if (waiting.length > 0) setImmediate(startNext);
    start?.();
  };
  return (start) => {
    comesIn = true;
    waiting.push(AsyncResource.bind(start)); // the log reads the id of the request from its context
    if (waiting.length === 1) setImmediate(startNext);
  };
}

import { AsyncResource } from "node:async_hooks";

/**
 * Returns a function that runs each `start` in a turn of the event loop of its own, in the order of the calls. Requests that
 * arrive together would otherwise all begin in one turn, and nothing else would be answered until they had.
 */
export function onePerTurn(): (start: () => void) => void {
  const waiting: (() => void)[] = [];
  const startNext = () => {
    const start = waiting.shift();
    if (waiting.length > 0) setImmediate(startNext);
    start?.();
  };
  return (start) => {
    waiting.push(AsyncResource.bind(start)); // the log reads the id of the request from its context
    if (waiting.length === 1) setImmediate(startNext);
  };
}

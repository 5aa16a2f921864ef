import { AsyncResource } from "node:async_hooks";

/**
 * Runs each `start` in a turn of the event loop of its own, in the order of the calls. Requests that arrive together would
 * otherwise all begin in one turn: with 300 logins, no other request was answered for 0.4 to 1 s.
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

import nock from "nock";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { log } from "#server/log";

log.level = "silent";

// No test reaches the network, and none passes with an error on the console that it did not expect.
beforeEach(() => {
  nock.disableNetConnect();
  nock.enableNetConnect(/^(?:127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?$/);
  vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  nock.abortPendingRequests();
  nock.cleanAll();
  expect(console.error).not.toHaveBeenCalled();
});

import nock from "nock";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { log } from "#server/log";

log.level = "silent";

// Tests have no network access but loopback, and fail on an unexpected console.error.
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

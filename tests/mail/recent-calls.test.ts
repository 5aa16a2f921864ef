import timers from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { RecentCalls } from "#server/mail/recent-calls";

test("a simulated call before the first call does not wait", async () => {
  const setTimeout = vi.spyOn(timers, "setTimeout").mockResolvedValue(undefined);
  await new RecentCalls().simulate();
  expect(setTimeout).not.toHaveBeenCalled();
});

test("a simulated call waits as long as the last call took", async () => {
  const setTimeout = vi.spyOn(timers, "setTimeout").mockResolvedValue(undefined);
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const recentCalls = new RecentCalls();
  await recentCalls.make(async () => void clock.mockReturnValue(1_060));
  await recentCalls.simulate();
  expect(setTimeout.mock.calls).toEqual([[60]]);
});

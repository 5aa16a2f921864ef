import timers from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { RecentCalls } from "#server/mail/recent-calls";

test("a simulated call waits as long as the last completed one took, and not at all before the first", async () => {
  const setTimeout = vi.spyOn(timers, "setTimeout").mockResolvedValue(undefined);
  const clock = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const recentCalls = new RecentCalls();
  await recentCalls.simulate();
  expect(setTimeout).not.toHaveBeenCalled();

  await recentCalls.make(async () => void clock.mockReturnValue(1_060));
  await recentCalls.simulate();
  expect(setTimeout.mock.calls).toEqual([[60]]);
});

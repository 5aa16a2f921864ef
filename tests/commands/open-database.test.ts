import { expect, test, vi } from "vitest";
import { commandEvents } from "#server/log";
import { JobQueue } from "#server/queue/job-queue";
import { startLatchkey } from "../support/latchkey";

const latchkey = startLatchkey();

test("a command whose event cannot be enqueued ends its queue", async () => {
  await latchkey.createUser({ email: "ada@example.com" });
  vi.spyOn(JobQueue.prototype, "enqueue").mockRejectedValue(new Error("The queue is gone."));
  const stop = vi.spyOn(JobQueue.prototype, "stop");
  commandEvents.push({ event: "user.suspended", userId: "1" });
  expect(await latchkey.command("user", "show", "ada@example.com")).toMatchObject({ status: 1 });
  expect(stop).toHaveBeenCalledOnce();
});

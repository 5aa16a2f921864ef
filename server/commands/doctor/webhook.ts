import type { Config } from "../../config";
import { sendWebhook } from "../../features/application/webhooks";
import { answerOf, type Check, checksOf, type Findings, findingOf } from "./check";

const { ok, warn, fail } = checksOf("webhook");

const findings: Findings = [
  [/^(?:timeout|unreachable)/, "{host} cannot be reached ({cause})", "start the application, or correct WEBHOOK_URL"],
  [/^redirect/, "{host} redirects ({cause}), which is not followed", "set WEBHOOK_URL to where it leads"],
  [/^status 410/, "{host} wants no webhooks ({cause})", "start the service again when it does"],
  [/^status 40[13]/, "{host} refuses the signature ({cause})", "give the application the same WEBHOOK_SECRET"],
  [/^/, "{host} answered: {cause}", "correct WEBHOOK_URL, or see the application's log"],
];

export async function checkWebhook({ webhook }: Config): Promise<Check> {
  if (!webhook) return warn("off", "set WEBHOOK_URL and WEBHOOK_SECRET first");
  const { host } = new URL(webhook.url);
  const payload = { type: "latchkey.test", timestamp: new Date().toISOString(), data: {} } as const;
  const cause = await answerOf(sendWebhook(crypto.randomUUID(), payload).then(() => null));
  if (cause === null) return ok(`${host} accepted latchkey.test`);
  return fail(...findingOf(findings, cause, { host, cause }));
}

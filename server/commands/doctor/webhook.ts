import type { Config } from "../../config";
import { CallError, EndpointGone } from "../../errors";
import { sendWebhook } from "../../features/application/webhooks";
import { type Check, causeOf, checksOf, type Troubles, troubleOf } from "./check";

const { ok, warn, fail } = checksOf("webhook");

const troubles: Troubles = [
  [/^private_address/, "{host} has a private or loopback address", "name that address itself in WEBHOOK_URL"],
  [/^(?:timeout|unreachable)/, "{host} cannot be reached ({cause})", "start the application, or correct WEBHOOK_URL"],
  [/^redirect/, "{host} redirects ({cause}), which is not followed", "set WEBHOOK_URL to where it leads"],
  [/^status 40[13]/, "{host} refuses the signature ({cause})", "give the application the same WEBHOOK_SECRET"],
  [/^/, "{host} answered: {cause}", "correct WEBHOOK_URL, or see the application's log"],
];

export async function checkWebhook({ webhook }: Config): Promise<Check> {
  if (!webhook) return warn("off", "set WEBHOOK_URL and WEBHOOK_SECRET first");
  const { host } = new URL(webhook.url);
  try {
    await sendWebhook(crypto.randomUUID(), { type: "latchkey.test", timestamp: new Date().toISOString(), data: {} });
    return ok(`${host} accepted latchkey.test`);
  } catch (error) {
    if (error instanceof EndpointGone) {
      return fail(`${host} wants no webhooks (status 410)`, "start the service again when it does");
    }
    if (!(error instanceof CallError)) throw error;
    return fail(...troubleOf(troubles, error.reason, { host, cause: causeOf(error) }));
  }
}

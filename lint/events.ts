import { readFileSync } from "node:fs";
import { type EventName, events } from "#server/events/events";
import { authorizationErrors, callFailures, signInFailures } from "#server/events/sign-in-failures";
import { withList, writeGenerated } from "./generated";

/** Writes the lists of events in docs/monitoring.md and of webhooks in docs/applications.md, from the list of events. */

type Definition = {
  means: string;
  told: string;
  mail?: string;
  webhook?: string;
  reasons?: Record<string, string>;
};

const everyEvent: [EventName, Definition][] = Object.entries(events) as [EventName, Definition][];

const code = (text: string) => `\`${text}\``;

function reasonsOf(name: EventName, reasons: Record<string, string>): string {
  if (name === "idp.failed" || name === "password.not_looked_up") return "Reasons: below.";
  const listed = Object.entries(reasons).map(([reason, means]) =>
    means ? `${code(reason)} (${means})` : code(reason),
  );
  return `Reasons: ${listed.join(", ")}.`;
}

/** One item for all names with the same meaning. */
function itemsOf(meanings: [name: string, means: string][]): string[] {
  const names = new Map<string, string[]>();
  for (const [name, means] of meanings) names.set(means, [...(names.get(means) ?? []), code(name)]);
  return [...names].map(([means, same]) => `${same.join(", ")}: ${means}`);
}

const eventItems = everyEvent.map(([name, { means, told, mail, webhook, reasons }]) => {
  const heard = [told, mail && "mail", webhook && "webhook"].filter(Boolean).join(", ");
  return [`${code(name)} (${heard}): ${means}`, reasons && reasonsOf(name, reasons)].filter(Boolean).join(" ");
});

const meaningsOf = (failures: Record<string, { means: string }>, prefix = "") =>
  Object.entries(failures).map(([reason, { means }]): [string, string] => [prefix + reason, means]);

const reasonItems = itemsOf([
  ...meaningsOf(signInFailures),
  ...meaningsOf(authorizationErrors, "authorization: "),
  ...meaningsOf(callFailures, "…: "),
]);

const webhookItems = itemsOf(
  everyEvent.flatMap(([, { means, webhook }]): [string, string][] => (webhook ? [[webhook, means]] : [])),
);

const monitoring = withList(readFileSync("docs/monitoring.md", "utf8"), "Events", eventItems);
const applications = readFileSync("docs/applications.md", "utf8");
writeGenerated({
  "docs/monitoring.md": withList(monitoring, "Reasons of a failed sign-in", reasonItems),
  "docs/applications.md": withList(applications, "Types", webhookItems),
});

import { parseArgs } from "node:util";
import { measureBackup } from "./backup";
import { measureLogins } from "./logins";
import { measureMemory } from "./memory";
import { openScale, type Scale } from "./million";
import { measureQueue } from "./queue";
import { measureConnections, measureStatements } from "./requests";
import { measureHotRow } from "./rows";
import { measureUpkeep } from "./upkeep";

// Ten processes on a million users: what grows faster than the load.

const { values: options } = parseArgs({
  options: {
    only: { type: "string" },
    users: { type: "string", default: "1000000" },
    minutes: { type: "string", default: "60" },
    rate: { type: "string", default: "6" },
  },
});

const isChosen = (name: string) => options.only?.split(",").includes(name) ?? true;
const users = Number(options.users);
const fewUsers = 10_000;

async function withUsers(users: number, work: (scale: Scale) => Promise<void>): Promise<void> {
  const scale = await openScale(users);
  try {
    await work(scale);
  } finally {
    await scale.close();
  }
}

/** On the embedded database. */
const embedded = { memory: measureMemory, backup: measureBackup, upkeep: measureUpkeep };

for (const [name, measure] of Object.entries(embedded)) if (isChosen(name)) await measure();
if (!options.only || options.only.split(",").some((name) => !(name in embedded)))
  await withUsers(users, async (scale) => {
    if (isChosen("statements")) {
      await withUsers(fewUsers, (few) => measureStatements({ [fewUsers]: few, [users]: scale }));
    }
    if (isChosen("connections")) await measureConnections(scale);
    if (isChosen("rows")) await measureHotRow(scale);
    if (isChosen("queue")) await measureQueue(scale);
    if (isChosen("logins")) await measureLogins(scale, users, Number(options.minutes), Number(options.rate));
  });

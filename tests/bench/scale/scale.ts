import { parseArgs } from "node:util";
import { measureLogins } from "./logins";
import { openScale } from "./million";
import { measureQueue } from "./queue";

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

const scale = await openScale(users);
try {
  if (isChosen("queue")) await measureQueue(scale);
  if (isChosen("logins")) await measureLogins(scale, users, Number(options.minutes), Number(options.rate));
} finally {
  await scale.close();
}

import type { Check } from "../features/doctor/check";
import { examine } from "../features/doctor/doctor";
import { printable } from "../printable";
import { type Command, CommandError, defineCommand, jsonOption } from "./command";

const lineOf = ({ status, name, found, mend }: Check) =>
  printable(`${status.padEnd(4)}  ${name.padEnd(11)}  ${found}${mend ? `. Mend: ${mend}` : ""}\n`);

const doctor = defineCommand({
  name: "doctor",
  operands: [],
  options: { mail: { value: "ADDRESS", help: "send a test mail there" }, json: jsonOption },
  summary: "find out what is wrong with this installation",
  details:
    "Checks the settings, the data folder, the database, the mail service, the identity provider, APP_URL and the proxy in\n" +
    "front, with one line for each: ok, warn or fail, what was found, and how to mend it. Run it where the service runs, as\n" +
    "its user and with its settings, while it runs. The status is 1 when a check fails. A running service holds its\n" +
    "embedded database, so the check of that one fails: stop the service for it.",
  async run(_operands, { mail, json }) {
    const checks: Check[] = [];
    for await (const check of examine(process.env, mail ?? null)) {
      checks.push(check);
      if (!json) process.stdout.write(lineOf(check));
    }
    if (json) process.stdout.write(`${printable(JSON.stringify(checks, null, 2))}\n`);
    const failed = checks.filter(({ status }) => status === "fail").length;
    if (failed > 0) throw new CommandError(`${failed} ${failed === 1 ? "check" : "checks"} failed.`);
  },
});

export const doctorCommands: Command[] = [doctor];

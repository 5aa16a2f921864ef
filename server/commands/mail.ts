import { givenUpMails, retryGivenUpMails } from "../queue/given-up-mails";
import { type Command, CommandError, defineCommand, jsonOption } from "./command";
import { withDatabase } from "./open-database";

const failed = defineCommand({
  name: "mail failed",
  operands: [],
  options: { json: jsonOption },
  summary: "list the mails that were given up",
  details:
    "Lists the mails that the mail service refused for good, and those whose last retry failed: id, time, task, address\n" +
    "and last error. They are kept for 14 days. `latchkey mail retry` sends them again.",
  async run(_operands, { json }) {
    const mails = await withDatabase(givenUpMails);
    if (json) return void process.stdout.write(`${JSON.stringify(mails, null, 2)}\n`);
    if (mails.length === 0) return void process.stdout.write("No mail was given up.\n");
    for (const { id, at, task, email, error } of mails) {
      process.stdout.write(`${id}  ${at.toISOString()}  ${task.replace("mail_", "")}  ${email}  ${error}\n`);
    }
  },
});

const retry = defineCommand({
  name: "mail retry",
  operands: ["[ID]"],
  options: {},
  summary: "send the mails again that were given up, or one of them",
  details:
    "Lets the running service send the mails of `latchkey mail failed` again, within seconds and with every retry; a\n" +
    "service that does not run sends them after its next start. A link in such a mail is a new one.",
  async run([id]) {
    const count = await withDatabase(() => retryGivenUpMails(id ?? null));
    if (id !== undefined && count === 0) {
      throw new CommandError(`No mail that was given up has the id ${id}: \`latchkey mail failed\` lists them.`);
    }
    process.stdout.write(`${count} ${count === 1 ? "mail" : "mails"} will be sent again.\n`);
  },
});

export const mailCommands: Command[] = [failed, retry];

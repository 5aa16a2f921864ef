import type { Command } from "commander";
import { givenUpMails, retryGivenUpMails } from "../queue/given-up-mails";
import { withDatabase } from "./open-database";
import { CommandError, jsonOption } from "./program";

async function listFailed({ json }: { json?: true }): Promise<void> {
  const mails = await withDatabase(givenUpMails);
  if (json) return void process.stdout.write(`${JSON.stringify(mails, null, 2)}\n`);
  if (mails.length === 0) return void process.stdout.write("No mail was given up.\n");
  for (const { id, at, task, email, error } of mails) {
    process.stdout.write(`${id}  ${at.toISOString()}  ${task.replace("mail_", "")}  ${email}  ${error}\n`);
  }
}

async function retry(id?: string): Promise<void> {
  const count = await withDatabase(() => retryGivenUpMails(id ?? null));
  if (id !== undefined && count === 0) {
    throw new CommandError(`No mail that was given up has the id ${id}: \`latchkey mail failed\` lists them.`);
  }
  process.stdout.write(`${count} ${count === 1 ? "mail" : "mails"} will be sent again.\n`);
}

export function addMailCommands(mail: Command): void {
  mail
    .command("failed")
    .option(...jsonOption)
    .summary("list the mails that were given up")
    .description(
      "Lists the mails that the mail service refused for good, and those whose last retry failed: id, time, task, " +
        "address and last error. They are kept for 14 days. `latchkey mail retry` sends them again.",
    )
    .action(listFailed);
  mail
    .command("retry")
    .argument("[ID]")
    .summary("send the mails again that were given up, or one of them")
    .description(
      "Lets the running service send the mails of `latchkey mail failed` again, within seconds and with every retry; " +
        "a service that does not run sends them after its next start. A link in such a mail is a new one.",
    )
    .action(retry);
}

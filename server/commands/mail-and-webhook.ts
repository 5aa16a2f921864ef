import type { Command } from "commander";
import { type GivenUpJobs, givenUpMails, givenUpWebhooks } from "../queue/given-up";
import { givenUpDays } from "../rules";
import { withDatabase } from "./open-database";
import { CommandError, counted, jsonOption, print } from "./program";

export const addMailCommands = (mail: Command): void =>
  addGivenUpCommands(mail, givenUpMails, ({ task, email }) => [task.replace("mail_", ""), email], {
    failed:
      "Lists the mails that the mail service refused for good, and those whose last retry failed: id, time, task, " +
      "address and last error.",
    retry: "A link in such a mail is a new one.",
  });

export const addWebhookCommands = (webhook: Command): void =>
  addGivenUpCommands(webhook, givenUpWebhooks, ({ type, userId }) => [type, userId], {
    failed:
      "Lists the webhooks whose last retry failed, and those that waited for 14 days: id, time, type, user id and last error.",
    retry: "The application gets it after later ones of its user.",
  });

function addGivenUpCommands<Columns>(
  command: Command,
  jobs: GivenUpJobs<Columns>,
  wordsOf: (job: Columns) => string[],
  about: { failed: string; retry: string },
): void {
  const noun = command.name();

  async function listFailed({ json }: { json?: true }): Promise<void> {
    const failed = await withDatabase(jobs.list);
    if (json) return print(JSON.stringify(failed, null, 2));
    if (failed.length === 0) print(`No ${noun} was given up.`);
    for (const job of failed) print([job.id, job.at.toISOString(), ...wordsOf(job), job.error].join("  "));
  }

  async function retry(id?: string): Promise<void> {
    const count = await withDatabase(() => jobs.retry(id ?? null));
    if (id !== undefined && count === 0) {
      const list = `\`latchkey ${noun} failed\` lists them`;
      throw new CommandError(`No ${noun} that was given up has the id ${id}: ${list}.`);
    }
    print(`${counted(count, noun)} will be sent again.`);
  }

  command
    .command("failed")
    .option(...jsonOption)
    .summary(`list the ${noun}s that were given up`)
    .description(`${about.failed} They are kept for ${givenUpDays} days. \`latchkey ${noun} retry\` sends them again.`)
    .action(listFailed);
  command
    .command("retry [ID]")
    .summary(`send the ${noun}s again that were given up, or one of them`)
    .description(
      `Lets the running service send the ${noun}s of \`latchkey ${noun} failed\` again, within seconds and with every ` +
        `retry; a service that does not run sends them after its next start. ${about.retry}`,
    )
    .action(retry);
}

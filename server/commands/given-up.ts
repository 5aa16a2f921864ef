import type { Command } from "commander";
import { type GivenUp, type GivenUpMail, type GivenUpWebhook, givenUpMails, givenUpWebhooks } from "../queue/given-up";
import { withDatabase } from "./open-database";
import { CommandError, counted, jsonOption } from "./program";

interface Kind<Job extends GivenUp> {
  noun: "mail" | "webhook";
  jobs: { list(): Promise<Job[]>; retry(id: string | null): Promise<number> };
  wordsOf(job: Job): string[];
  about: { failed: string; retry: string };
}

function addGivenUpCommands<Job extends GivenUp>(command: Command, { noun, jobs, wordsOf, about }: Kind<Job>): void {
  async function listFailed({ json }: { json?: true }): Promise<void> {
    const failed = await withDatabase(jobs.list);
    if (json) return void process.stdout.write(`${JSON.stringify(failed, null, 2)}\n`);
    if (failed.length === 0) return void process.stdout.write(`No ${noun} was given up.\n`);
    for (const job of failed) {
      process.stdout.write(`${[job.id, job.at.toISOString(), ...wordsOf(job), job.error].join("  ")}\n`);
    }
  }

  async function retry(id?: string): Promise<void> {
    const count = await withDatabase(() => jobs.retry(id ?? null));
    if (id !== undefined && count === 0) {
      const list = `\`latchkey ${noun} failed\` lists them`;
      throw new CommandError(`No ${noun} that was given up has the id ${id}: ${list}.`);
    }
    process.stdout.write(`${counted(count, noun)} will be sent again.\n`);
  }

  command
    .command("failed")
    .option(...jsonOption)
    .summary(`list the ${noun}s that were given up`)
    .description(`${about.failed} They are kept for 14 days. \`latchkey ${noun} retry\` sends them again.`)
    .action(listFailed);
  command
    .command("retry")
    .argument("[ID]")
    .summary(`send the ${noun}s again that were given up, or one of them`)
    .description(
      `Lets the running service send the ${noun}s of \`latchkey ${noun} failed\` again, within seconds and with every ` +
        `retry; a service that does not run sends them after its next start. ${about.retry}`,
    )
    .action(retry);
}

export const addMailCommands = (mail: Command): void =>
  addGivenUpCommands<GivenUpMail>(mail, {
    noun: "mail",
    jobs: givenUpMails,
    wordsOf: ({ task, email }) => [task.replace("mail_", ""), email],
    about: {
      failed:
        "Lists the mails that the mail service refused for good, and those whose last retry failed: id, time, task, " +
        "address and last error.",
      retry: "A link in such a mail is a new one.",
    },
  });

export const addWebhookCommands = (webhook: Command): void =>
  addGivenUpCommands<GivenUpWebhook>(webhook, {
    noun: "webhook",
    jobs: givenUpWebhooks,
    wordsOf: ({ type, userId }) => [type, userId],
    about: {
      failed: "Lists the webhooks whose last retry failed: id, time, type, user id and last error.",
      retry: "The application gets it after later ones of its user.",
    },
  });

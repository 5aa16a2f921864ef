import { type Command, InvalidArgumentError } from "commander";
import { areGroups, maxGroups, sortedGroups } from "../accounts/groups/names";
import type { Invitation } from "../database/entities";
import { invite, liveInvitations, uninvite } from "../features/operator/invitations";
import { printable } from "../process/terminal";
import { withDatabase } from "./open-database";
import { CommandError, jsonOption, print, writeLine } from "./program";
import { parsedName, shown } from "./user";
import { collectGroup, parseNewAddress } from "./user-access";

export function addUserInvitationCommands(user: Command): void {
  user
    .command("invite")
    .argument("<EMAIL>", "the address", parseNewAddress)
    .summary("invite an address to create an account")
    .description(
      "Prints a link with which the address's owner creates an account, or mails it. The account gets the groups and the " +
        "name. It works once, and also where REGISTRATION is closed. A sign-in at the provider with the address accepts " +
        "the invitation, too. A second invitation takes the place of the first.",
    )
    .option("--group <NAME>", "a group of the account; can be repeated", collectGroup)
    .option("--name <NAME>", "the name that the page proposes")
    .option("--days <DAYS>", "how long it is valid, 1 to 30 days", parseDays, 7)
    .option("--mail", "mail the link, and print none")
    .action(inviteAddress);
  user
    .command("invitations")
    .summary("list the invitations")
    .description(
      "Lists the invitations that are valid: address, groups and end. With --json, each line is a JSON object.",
    )
    .option(...jsonOption)
    .action(list);
  user
    .command("uninvite")
    .argument("<EMAIL>", "the address", parseNewAddress)
    .summary("remove an invitation")
    .description("Removes the invitation of an address. Its link is no longer valid.")
    .action(remove);
}

function parseDays(text: string): number {
  if (!/^(?:[1-9]|[12]\d|30)$/.test(text)) throw new InvalidArgumentError("This is not a number of days from 1 to 30.");
  return Number(text);
}

interface InviteOptions {
  group?: string[];
  name?: string;
  days: number;
  mail?: true;
}

async function inviteAddress(email: string, { group = [], name, ...options }: InviteOptions): Promise<void> {
  if (!areGroups(group)) throw new CommandError(`Nobody was invited: a user has at most ${maxGroups} groups.`);
  const invited = { groups: sortedGroups(group), name: parsedName(name), ...options };
  const link = await withDatabase(() => invite(email, invited));
  if (link === null)
    throw new CommandError(`The address ${email} has an account already: \`latchkey user groups\` changes its groups.`);
  print(options.mail ? "The invitation is on its way." : link);
}

const list = ({ json }: { json?: true }) =>
  withDatabase(async () => {
    for (const invitation of await liveInvitations()) {
      const { email, groups, name = null, createdAt, expiresAt } = invitation;
      const line = json ? JSON.stringify({ email, groups, name, createdAt, expiresAt }) : asLine(invitation);
      await writeLine(printable(line));
    }
  });

const asLine = ({ email, groups, expiresAt }: Invitation) =>
  `${email}  ${groups.join(",") || "-"}  until ${shown(expiresAt)}`;

async function remove(email: string): Promise<void> {
  if (!(await withDatabase(() => uninvite(email)))) throw new CommandError(`There is no invitation of ${email}.`);
  print("The invitation is removed.");
}

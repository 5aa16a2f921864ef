import { type Command, InvalidArgumentError } from "commander";
import { groupsOf, providerGroupsOf } from "../accounts/groups/membership";
import { maxGroups } from "../accounts/groups/names";
import { parseAddress } from "../accounts/users/email-address";
import { changeGroups, endEverySession, restoreUser, setEmail, suspendUser } from "../features/operator/user-access";
import { clearLimits, type ListedUser, listUsers } from "../features/operator/user-administration";
import { printable } from "../process/terminal";
import { isGroup } from "../rules";
import { withDatabase } from "./open-database";
import { CommandError, counted, jsonOption, print, printToStderr, writeLine } from "./program";
import { invitationRemoved, noAccount, withUser } from "./user";

export function addUserAccessCommands(user: Command): void {
  const add = (name: string, summary: string, description: string) =>
    user.command(name).summary(summary).description(description);
  add(
    "suspend <EMAIL>",
    "end an account's sessions and let nobody sign in to it",
    "Ends every session, access token, link and unconfirmed change of the account. From then on a login is answered as with a wrong " +
      "password, no reset link is mailed, and an external sign-in fails. The owner gets no mail.",
  ).action(suspend);
  add(
    "restore <EMAIL>",
    "let a suspended account sign in again",
    "Ends a suspension. Nothing that ended comes back.",
  ).action(restore);
  add(
    "set-email <EMAIL>",
    "give an account another address",
    "For an owner who has lost the mailbox and asks you, once you are sure who asks. Ends every session, access " +
      "token, link and unconfirmed change of the account, and forgets its known browsers. The password stays. After the next login, the account page asks which " +
      "passkeys, and whether the provider, are the owner's. Both addresses are told.",
  )
    .argument("<NEW>", "the new address", parseNewAddress)
    .action(setAddress);
  add(
    "groups <EMAIL>",
    "show or change the groups of an account",
    "Prints the account's groups, one to a line, after the change, and says which of them come from the provider " +
      "(IDP_GROUPS_CLAIM): those are removed there. `/auth/verify` tells all of them to the applications.",
  )
    .option("--add <NAME>", "add a group; can be repeated", collectGroup)
    .option("--remove <NAME>", "remove a group; can be repeated", collectGroup)
    .action(groups);
  add(
    "list",
    "list the accounts",
    "Lists the accounts in the order of their addresses: address, id, groups, and whether it is suspended. With --json, " +
      "each line is a JSON object.",
  )
    .option("--group <NAME>", "only those of this group", parseGroup)
    .option("--no-way-in", "only those that no password, provider or passkey signs in to")
    .option("--suspended", "only those that are suspended")
    .option("--undeliverable", "only those whose mails do not arrive")
    .option("--unlinked", "only those that are not connected to the provider")
    .option(...jsonOption)
    .action(list);
  add(
    "clear-limits <EMAIL>",
    "let an address log in and ask for mails again at once",
    "Clears what was counted for the address and for the known browsers of its account. The limits of clients stay.",
  ).action(clear);
  add(
    "end-all-sessions",
    "sign every account out everywhere",
    "Ends every session and every access token of every account.",
  )
    .requiredOption("--yes", "confirm it")
    .action(endAll);
}

const suspend = (email: string) =>
  withUser(email, async ({ id, email }) => {
    const ended = await suspendUser(id);
    if (ended === "no_account") throw noAccount(email);
    if (ended === "suspended_already") throw new CommandError(`The account ${email} is suspended already.`);
    print(`The account is suspended. ${counted(ended, "session")} ended.`);
  });

const restore = (email: string) =>
  withUser(email, async ({ id }) => {
    if (!(await restoreUser(id))) throw new CommandError(`The account ${email} is not suspended.`);
    print("The account is restored.");
  });

export function parseNewAddress(typed: string): string {
  const email = parseAddress(typed);
  if (email === null) throw new InvalidArgumentError("This is not an email address.");
  return email;
}

const setEmailRefusals = {
  own_address: "it has this address already",
  suspended: "it is suspended",
  taken: "another account has this address",
};

const setAddress = (typed: string, newEmail: string) =>
  withUser(typed, async ({ id }) => {
    const ended = await setEmail(id, newEmail);
    if (ended === "no_account") throw noAccount(typed);
    if (typeof ended === "string") throw new CommandError(`The account was not changed: ${setEmailRefusals[ended]}.`);
    if (ended.uninvited) printToStderr(invitationRemoved);
    print(`The address of the account is ${newEmail}. ${counted(ended.count, "session")} ended.`);
  });

export const collectGroup = (name: string, others: string[] = []): string[] => [...others, parseGroup(name)];

function parseGroup(name: string): string {
  if (isGroup(name)) return name;
  throw new InvalidArgumentError("A group has 1 to 64 characters: a-z and 0-9, and after the first one also . _ -.");
}

const groups = (email: string, { add = [], remove = [] }: { add?: string[]; remove?: string[] }) =>
  withUser(email, async (user) => {
    const isChange = add.length + remove.length > 0;
    const now = isChange ? await changeGroups(user.id, { add, remove }) : groupsOf(user);
    if (now === null) throw noAccount(email);
    if (now === "too_many") throw new CommandError(`Nothing was changed: a user has at most ${maxGroups} groups.`);
    if (now === "of_provider")
      throw new CommandError("Nothing was changed: the provider gives the group, and it can be removed there alone.");
    const ofProvider = providerGroupsOf(user);
    for (const name of now) print(ofProvider.includes(name) ? `${name}  from the provider` : name);
  });

const list = ({ json, ...which }: Parameters<typeof listUsers>[0] & { json?: true }) =>
  withDatabase(async () => {
    for await (const user of listUsers(which)) await writeLine(printable(json ? JSON.stringify(user) : asLine(user)));
  });

function asLine({ email, id, groups, suspendedAt }: ListedUser): string {
  return [email, id, groups.join(",") || "-", ...(suspendedAt ? ["suspended"] : [])].join("  ");
}

/** An address has limits without an account, too. */
async function clear(typed: string): Promise<void> {
  const email = parseAddress(typed);
  const cleared =
    email === null ? withUser(typed, (user) => clearLimits(user.email)) : withDatabase(() => clearLimits(email));
  print(`${counted(await cleared, "count")} cleared.`);
}

const endAll = async () => print(`${counted(await withDatabase(endEverySession), "session")} ended.`);

import { parseAddress } from "../accounts/email-address";
import { parseName } from "../accounts/names";
import { config } from "../config";
import type { User } from "../database/entities";
import { deleteAccount } from "../features/account.server";
import { unlinkProvider } from "../features/provider-link.server";
import { endOtherSessions } from "../features/sessions.server";
import {
  type AccountDetails,
  accountDetails,
  createResetLink,
  createUserWithoutPassword,
  findUser,
} from "../features/user-administration.server";
import { printable } from "../printable";
import { linkLifetimeMinutes } from "../rules";
import { type Command, CommandError, defineCommand, jsonOption, UsageError } from "./command";
import { withDatabase } from "./open-database";

const print = (text: string) => void process.stdout.write(`${printable(text)}\n`);

const noAccount = (email: string) => new CommandError(`There is no account with the address ${email}.`);

/** Runs `work` with the user of the address. */
function withUser<T>(typedEmail: string, work: (user: User) => Promise<T>): Promise<T> {
  return withDatabase(async () => {
    const user = await findUser(typedEmail);
    if (!user) throw noAccount(typedEmail);
    return work(user);
  });
}

const linkNote = `It can be used once, for ${linkLifetimeMinutes} minutes: hand it to nobody but the owner.`;

const time = (date: Date) => date.toISOString();

/** The details as `label: value` lines. */
function asText(details: AccountDetails): string {
  const { provider, sessions } = details;
  const lines: [string, string | null][] = [
    ["Address", details.email],
    ["User id", details.id],
    ["Name", details.name],
    ["Created", time(details.createdAt)],
    ["Password", details.password ?? "none"],
    ["Provider", provider ? `${provider.id} of ${provider.issuer ?? "the configured provider"}` : "not connected"],
    ["Disconnected", details.providerBlockedAt && time(details.providerBlockedAt)],
    [
      "Logins blocked",
      details.loginBlockedUntil && `until ${time(details.loginBlockedUntil)}, except on known browsers`,
    ],
    ["Reset mails blocked", details.resetMailsBlockedUntil && `until ${time(details.resetMailsBlockedUntil)}`],
    ["Reset links", String(details.resetLinks)],
    ["Known browsers", String(details.devices)],
    ["Sessions", String(sessions.length)],
    ...sessions.map(({ browser, createdAt, lastSeenAt }): [string, string] => [
      "  Session",
      `${browser}, since ${time(createdAt)}, last seen ${time(lastSeenAt)}`,
    ]),
  ];
  return lines
    .filter(([, value]) => value !== null)
    .map(([label, value]) => `${`${label}:`.padEnd(20)} ${value}`)
    .join("\n");
}

const show = defineCommand({
  name: "user show",
  operands: ["EMAIL"],
  options: { json: jsonOption },
  summary: "show an account",
  details:
    "Shows how the account's owner can sign in, since when and in which browsers the owner is signed in, and whether a\n" +
    "limit blocks logins or reset mails at present. Changes nothing.",
  run: ([email], { json }) =>
    withUser(email, async (user) => {
      const details = await accountDetails(user);
      print(json ? JSON.stringify(details, null, 2) : asText(details));
    }),
});

const create = defineCommand({
  name: "user create",
  operands: ["EMAIL"],
  options: { name: { value: "NAME", help: "the name that pages show" } },
  summary: "create an account and print a reset link",
  details:
    "Creates an account without a password, and prints a link with which its owner chooses one. Nothing is mailed.\n" +
    `${linkNote} Latchkey does not check that the address\nis the owner's: you do.`,
  async run([typedEmail], { name: typedName }) {
    const email = parseAddress(typedEmail);
    if (email === null) throw new CommandError(`${typedEmail} is no email address.`);
    const name = typedName === undefined ? null : parseName(typedName);
    if (typedName !== undefined && name === null) throw new CommandError("The name is empty, too long or not text.");
    await withDatabase(async () => {
      const user = await createUserWithoutPassword(email, name);
      if (!user) throw new CommandError(`The address ${email} has an account already.`);
      print(await createResetLink(user));
    });
  },
});

const createLink = defineCommand({
  name: "user reset-link",
  operands: ["EMAIL"],
  options: {},
  summary: "print a reset link",
  details: `Prints a link with which the account's owner chooses a new password. Nothing is mailed.\n${linkNote}`,
  run: ([email]) => withUser(email, async (user) => print(await createResetLink(user))),
});

const endSessions = defineCommand({
  name: "user end-sessions",
  operands: ["EMAIL"],
  options: {},
  summary: "sign an account out everywhere",
  details: "Ends every session of the account. Whoever knows the password can sign in again.",
  run: ([email]) =>
    withUser(email, async ({ id }) => {
      const ended = await endOtherSessions({ userId: id, sessionId: null });
      if (ended === null) throw noAccount(email);
      print(ended === 1 ? "1 session ended." : `${ended} sessions ended.`);
    }),
});

const unlink = defineCommand({
  name: "user unlink",
  operands: ["EMAIL"],
  options: {},
  summary: "disconnect an account from the identity provider",
  details:
    "Takes the provider's id off the account and ends every session. Only the signed-in owner can connect the provider\n" +
    "again. The owner gets a mail. Refused when the provider is the account's only way to sign in.",
  run: ([email]) =>
    withUser(email, async ({ id, idpId }) => {
      if (idpId === null) throw new CommandError(`The account ${email} is not connected to a provider.`);
      const outcome = await unlinkProvider({ userId: id, sessionId: null }, config().defaultLanguage);
      if (outcome === "session_ended") throw noAccount(email);
      if (outcome === "only_way_in") {
        throw new CommandError(
          `The provider is the only way to sign in to ${email}. A reset link sets a password first.`,
        );
      }
      print("The provider is disconnected.");
    }),
});

const remove = defineCommand({
  name: "user delete",
  operands: ["EMAIL"],
  options: { yes: { help: "confirm the deletion" } },
  summary: "delete an account (needs --yes)",
  details: "Deletes the account, its sessions and its links for good. The owner gets a mail.",
  async run([email], { yes }) {
    if (!yes) throw new UsageError(`--yes is missing: it confirms that ${email} is to be deleted.`);
    await withUser(email, async (user) => {
      if ((await deleteAccount(user, null, user.email, config().defaultLanguage)) !== "deleted")
        throw new CommandError(`${email} was not deleted.`);
      print("The account is deleted.");
    });
  },
});

export const userCommands: Command[] = [show, create, createLink, endSessions, unlink, remove];

import type { Command } from "commander";
import { parseAddress } from "../accounts/users/email-address";
import type { User } from "../database/entities";
import {
  type AccountDetails,
  accountDetails,
  createResetLink,
  createUserWithoutPassword,
  findUser,
} from "../features/operator/user-administration";
import { deleteAccount } from "../features/owner/account-deletion";
import { changeName } from "../features/owner/name-change";
import { endOtherSessions } from "../features/owner/own-sessions";
import { unlinkProvider } from "../features/owner/provider-link";
import { linkMinutes, longestName, parseName } from "../rules";
import { withDatabase } from "./open-database";
import { CommandError, counted, jsonOption, print, printToStderr } from "./program";

export const invitationRemoved = "The invitation of the address was removed. The account does not get its groups.";

const shownEvents = 20;

const linkNote = `The link can be used once, for ${linkMinutes} minutes: hand it to nobody but the owner.`;

export function addUserCommands(user: Command): void {
  const add = (name: string, summary: string, description: string) =>
    user.command(name).argument("<EMAIL>").summary(summary).description(description);
  add(
    "show",
    "show an account",
    "Shows how the account's owner can sign in, since when and in which browsers the owner is signed in, what keeps the " +
      `owner out at present, and the last ${shownEvents} events of the account (--json: all). Changes nothing.`,
  )
    .option(...jsonOption)
    .action(show);
  add(
    "create",
    "create an account and print its id and a reset link",
    "Creates an account without a password, and prints its id and a link with which its owner chooses one. Nothing is " +
      "mailed, unless --mail mails the link instead of printing it. With PASSWORDS=off there is no link, and the " +
      `mail leads to the provider. ${linkNote} Latchkey does not check that the address is the owner's: you do.`,
  )
    .option("--name <NAME>", "the name that pages show")
    .option("--mail", "mail the link, and print none")
    .action(create);
  add(
    "name",
    "change the name of an account",
    "Gives the account this name, or takes its name away. Pages show it, and applications are told at once.",
  )
    .argument("[NAME]", "the new name; without it, the name is taken away")
    .action(setName);
  add(
    "reset-link",
    "print a reset link",
    `Prints a link with which the account's owner chooses a new password. Nothing is mailed. ${linkNote}`,
  ).action(printLink);
  add(
    "end-sessions",
    "sign an account out everywhere",
    "Ends every session and every access token of the account. Whoever knows the password can sign in again.",
  ).action(endSessions);
  add(
    "unlink",
    "disconnect an account from the identity provider",
    "Takes the provider's id off the account and ends every session. Only the signed-in owner can connect the provider " +
      "again. The owner gets a mail. Refused when the provider is the account's only way to sign in.",
  ).action(unlink);
  add("delete", "delete an account", "Deletes the account, its sessions and its links for good. The owner gets a mail.")
    .requiredOption("--yes", "confirm the deletion")
    .action(remove);
}

const show = (email: string, { json }: { json?: true }) =>
  withUser(email, async (user) => {
    const details = await accountDetails(user);
    print(json ? JSON.stringify(details, null, 2) : asText(details));
  });

/** The others are in "Kept out", or in --json alone. */
type Listed = Exclude<keyof AccountDetails & string, "pictureUrl" | "undeliverableAt" | "undeliverableBy">;

function asText(details: AccountDetails): string {
  const { provider, passkeys, loginBlockedUntil, sessions, tokens, events } = details;
  const shownPasskeys = passkeys.map(
    ({ name, madeFor, createdAt, lastUsedAt }) =>
      `${name}${madeFor ? `, for ${madeFor}` : ""}, ${since(createdAt)}, last used ${lastUsedAt ? shown(lastUsedAt) : "never"}`,
  );
  const shownSessions = sessions.map(
    ({ browser, createdAt, lastSeenAt, bound }) =>
      `${browser}, ${since(createdAt)}, last seen ${shown(lastSeenAt)}${bound ? ", bound to its device" : ""}`,
  );
  const lines: Record<Listed, [label: string, value: string | null | undefined, ...items: string[]]> = {
    email: ["Address", details.email],
    id: ["User id", details.id],
    name: ["Name", details.name],
    language: ["Language", details.language],
    groups: ["Groups", details.groups.join(", ")],
    suspendedAt: ["Suspended", since(details.suspendedAt)],
    createdAt: ["Created", shown(details.createdAt)],
    password: ["Password", details.password ? `set (${algorithm(details.password)})` : "none"],
    provider: [
      "Provider",
      provider ? `${provider.id} of ${provider.issuer ?? "the configured provider"}` : "not connected",
    ],
    providerBlockedAt: ["Disconnected", details.providerBlockedAt && shown(details.providerBlockedAt)],
    passkeys: ["Passkeys", String(passkeys.length), ...shownPasskeys],
    loginBlockedUntil: ["Logins blocked", loginBlockedUntil && `${until(loginBlockedUntil)}, except on known browsers`],
    resetMailsBlockedUntil: ["Reset mails blocked", until(details.resetMailsBlockedUntil)],
    resetLinks: ["Reset links", String(details.resetLinks)],
    devices: ["Known browsers", String(details.devices)],
    sessions: ["Sessions", String(sessions.length), ...shownSessions],
    tokens: ["Access tokens", tokens.length > 0 ? String(tokens.length) : null, ...tokens.map(tokenText)],
    hasWayIn: ["Kept out", obstacles(details)],
    events: ["Events", String(events.length), ...events.slice(0, shownEvents).map(eventText)],
  };
  return Object.values(lines)
    .flatMap(([label, value, ...items]) =>
      value ? [line(label, value), ...items.map((item) => line(`  ${label.slice(0, -1)}`, item))] : [],
    )
    .join("\n");
}

const since = (at: Date | null | undefined) => at && `since ${shown(at)}`;

const algorithms = { argon2id: "Argon2id", scrypt: "scrypt", pbkdf2: "PBKDF2", "2b": "bcrypt" };

/** By the beginning of a stored hash; --json has its parameters. */
const algorithm = (kind: string) => Object.entries(algorithms).find(([name]) => kind.includes(name))?.[1] ?? "unknown";

const until = (at: Date | null) => at && `until ${inMinutes(at)}`;

export const tokenText = ({ name, origin, expiresAt, lastUsedAt }: AccountDetails["tokens"][number]) =>
  `${name}, for ${origin}, ends ${shown(expiresAt)}, last used ${lastUsedAt ? shown(lastUsedAt) : "never"}`;

const undeliverable = {
  "mail.bounced": "Mails to this address bounce",
  "mail.complained": "A mail was reported as spam, and the mail service may send no more,",
  "mail.refused": "The mail service refuses this address",
};

/** What keeps the owner out now, in sentences; `null` for nothing. */
function obstacles(details: AccountDetails): string | null {
  const { suspendedAt, hasWayIn, loginBlockedUntil, resetMailsBlockedUntil, undeliverableAt, undeliverableBy } =
    details;
  const sentences = [
    suspendedAt && `The account has been suspended since ${shown(suspendedAt)}.`,
    !hasWayIn && "There is no way in: no password, no provider and no passkey.",
    loginBlockedUntil && `Logins are limited until ${inMinutes(loginBlockedUntil)}, except on known browsers.`,
    resetMailsBlockedUntil && `Reset mails are limited until ${inMinutes(resetMailsBlockedUntil)}.`,
    undeliverableAt && `${undeliverable[undeliverableBy ?? "mail.bounced"]} since ${shown(undeliverableAt)}.`,
  ];
  return sentences.filter(Boolean).join(" ") || null;
}

function inMinutes(at: Date): string {
  return `${shown(at)} (in ${counted(Math.ceil((at.getTime() - Date.now()) / 60_000), "minute")})`;
}

function eventText({ at, type, actor, way, browser, system, detail }: AccountDetails["events"][number]): string {
  const where = [browser, system].filter(Boolean).join(" on ");
  return [shown(at), type, way, detail, actor && `by the ${actor}`, where].filter(Boolean).join(", ");
}

/** To the minute. */
export const shown = (at: Date) => at.toISOString().replace(/:[^:]+$/, "Z");

const line = (label: string, value: string) => `${`${label}:`.padEnd(20)} ${value}`;

async function create(typedEmail: string, { name: typedName, mail }: { name?: string; mail?: true }): Promise<void> {
  const email = parseAddress(typedEmail);
  if (email === null) throw new CommandError(`${typedEmail} is not an email address.`);
  const name = parsedName(typedName);
  await withDatabase(async () => {
    const user = await createUserWithoutPassword(email, name, mail);
    if (!user) throw new CommandError(`The address ${email} has an account already.`);
    if (user.uninvited) printToStderr(invitationRemoved);
    print(`User id: ${user.id}`);
    const link = mail ? "The mail is on its way." : await createResetLink(user);
    if (link !== null) print(link);
  });
}

/** The name of an option; `null` without it. */
export function parsedName(typed: string | undefined): string | null {
  const name = typed === undefined ? null : parseName(typed);
  if (typed !== undefined && name === null) throw wrongName();
  return name;
}

const setName = (email: string, typedName = "") =>
  withUser(email, async (user) => {
    const outcome = await changeName({ user, sessionId: null }, typedName);
    if (outcome === "session_ended") throw noAccount(email);
    if (outcome === "wrong_name") throw wrongName();
    print(typedName.trim() === "" ? "The account has no name." : "The account has this name.");
  });

const wrongName = () => new CommandError(`A name is one line of plain text, of at most ${longestName} characters.`);

const printLink = (email: string) =>
  withUser(email, async (user) => {
    if (user.suspendedAt) throw new CommandError(`The account ${email} is suspended: no link would work.`);
    const link = await createResetLink(user);
    if (link === null)
      throw new CommandError("There are no passwords: PASSWORDS is off. Accounts come from the provider.");
    print(link);
  });

const endSessions = (email: string) =>
  withUser(email, async (user) => {
    const ended = await endOtherSessions({ user, sessionId: null });
    if (ended === null) throw noAccount(email);
    print(`${counted(ended.count, "session")} ended.`);
  });

const unlink = (email: string) =>
  withUser(email, async (user) => {
    if (user.idpId === null) throw new CommandError(`The account ${email} is not connected to a provider.`);
    const outcome = await unlinkProvider({ user, sessionId: null });
    if (outcome === "session_ended") throw noAccount(email);
    if (outcome === "only_way_in") {
      throw new CommandError(`The provider is the only way to sign in to ${email}. Nothing was changed.`);
    }
    print("The provider is disconnected.");
  });

const remove = (email: string) =>
  withUser(email, async (user) => {
    const outcome = await deleteAccount({ user, sessionId: null }, user.email, user.email);
    if (outcome !== "deleted") throw new CommandError(`${email} was not deleted.`);
    print("The account is deleted.");
  });

export function withUser<T>(typed: string, work: (user: User) => Promise<T>): Promise<T> {
  return withDatabase(async () => {
    const user = await findUser(typed);
    if (!user) throw noAccount(typed);
    return work(user);
  });
}

export const noAccount = (typed: string) => new CommandError(`There is no account ${typed}.`);

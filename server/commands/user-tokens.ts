import type { Command } from "commander";
import { config } from "../config";
import { makeOwnToken, offeredDays, plainToken, removeToken, tokensOf } from "../features/owner/access-tokens";
import { longestTokenName, maxAccessTokens } from "../rules";
import { CommandError, jsonOption, print } from "./program";
import { noAccount, tokenText, withUser } from "./user";

export function addUserTokenCommands(user: Command): void {
  user
    .command("tokens <EMAIL>")
    .summary("list an account's access tokens")
    .description("Lists the live access tokens of the account, the latest first, each with its id.")
    .option(...jsonOption)
    .action(list);
  user
    .command("create-token <EMAIL>")
    .summary("make an access token for a program")
    .description(
      "Makes a token with which a program is this account at one application, and prints it. It is shown this once, and " +
        "the owner gets a mail. An account of its own for each program keeps it apart from people.",
    )
    .requiredOption("--name <NAME>", "which program it is for")
    .requiredOption("--origin <ORIGIN>", "of the application: that of APP_URL, or one that RETURN_ORIGINS allows")
    .option(
      "--days <DAYS>",
      "days until it ends: 7, 30, 90 or 365, at most ACCESS_TOKEN_DAYS (default: the longest up to 90)",
    )
    .action(create);
  user
    .command("remove-token <EMAIL>")
    .argument("<ID>", "as `user tokens` prints it")
    .summary("remove an access token")
    .description("Removes a token of the account. What uses it has no access any more.")
    .action(remove);
}

const list = (email: string, { json }: { json?: true }) =>
  withUser(email, async ({ id }) => {
    const tokens = (await tokensOf(id)).map(plainToken);
    if (json) return print(JSON.stringify(tokens, null, 2));
    for (const token of tokens) print(`${token.id}  ${tokenText(token)}`);
  });

const create = (email: string, { days, ...asked }: { name: string; origin: string; days?: string }) =>
  withUser(email, async (user) => {
    if (!config().accessTokens) throw new CommandError("There are no access tokens: ACCESS_TOKENS is off.");
    const byDefault = String(offeredDays().findLast((offered) => offered <= 90));
    const made = await makeOwnToken({ user, sessionId: null }, { ...asked, days: days ?? byDefault });
    if (typeof made === "object" && "token" in made) return print(made.token);
    if (typeof made === "object") throw new CommandError(made.wrong.map((field) => problems[field]()).join(" "));
    if (made === "suspended") throw new CommandError(`The account ${email} is suspended.`);
    if (made === "too_many") throw new CommandError(`${email} has ${maxAccessTokens} tokens, and can have no more.`);
    throw noAccount(email);
  });

const problems = {
  name: () => `The name must be one line of 1 to ${longestTokenName} characters.`,
  origin: () => "The origin is neither that of APP_URL nor one that RETURN_ORIGINS allows, without a path.",
  days: () => `The days are one of ${offeredDays().join(", ")}.`,
};

const remove = (email: string, id: string) =>
  withUser(email, async (user) => {
    if (!(await removeToken({ user, sessionId: null }, id))) throw new CommandError(`${email} has no token ${id}.`);
    print("The token is removed.");
  });

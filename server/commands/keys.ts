import type { Command } from "commander";
import { config } from "../config";
import { rotateSigningKeys } from "../features/application/signing-keys";
import { withDatabase } from "./open-database";
import { CommandError, print } from "./program";

export const addKeyCommands = (keys: Command) =>
  keys
    .command("rotate")
    .summary("replace the key that signs the identity tokens")
    .description(
      "Publishes a new key, which signs after ten minutes. The one before stays published for half an hour more. After " +
        "a change of IDENTITY_KEY the new key signs at once: restart the service within that half an hour.",
    )
    .action(rotate);

async function rotate(): Promise<void> {
  const signsFrom = await withDatabase(async () => config().identityKey && rotateSigningKeys());
  if (!signsFrom) throw new CommandError("IDENTITY_TOKENS is off.");
  print(`The new key is published and signs from ${signsFrom.toISOString()} on.`);
}

import { runCommand } from "./commands/command-line";
import { duringCommand } from "./log";

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code !== "EPIPE")
    console.error(`Standard output cannot be written: ${code}. The command may have done its work.`);
  process.exit(1);
});

process.exitCode = await duringCommand(() => runCommand(process.argv.slice(2)));

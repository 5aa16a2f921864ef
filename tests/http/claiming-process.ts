import { claimFolder } from "#server/database/folder-lock";

const [, , folder = ""] = process.argv;

process.on("message", async () => {
  const outcome = await claimFolder(folder).then(
    ({ lock }) => {
      process.once("exit", () => lock.fd); // a file handle that nothing refers to is closed
      return "claimed";
    },
    ({ message }: Error) => message,
  );
  process.send?.(outcome);
});
process.send?.("ready");

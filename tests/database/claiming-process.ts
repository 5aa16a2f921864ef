import { claimFolder } from "#server/database/folder-lock";

const [, , folder = ""] = process.argv;
const locks: unknown[] = []; // Node closes a file handle that nothing refers to

process.on("message", async () => {
  const outcome = await claimFolder(folder).then(
    ({ lock }) => {
      locks.push(lock);
      return "claimed";
    },
    ({ message }: Error) => message,
  );
  process.send?.(outcome);
});
process.send?.("ready");

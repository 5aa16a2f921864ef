/** A module that Remix's compiler generates. */
declare module "@remix-run/dev/assets-manifest" {
  import type { EntryContext } from "@remix-run/node";

  const manifest: EntryContext["manifest"];
  export default manifest;
}

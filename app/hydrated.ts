import { useSyncExternalStore } from "react";

const never = () => () => {};

/** False in the server's HTML, and so for good without JavaScript. */
export const useHydrated = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

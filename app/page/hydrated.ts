import { useSyncExternalStore } from "react";

const never = () => () => {};

/** False in the server's HTML and during hydration, true afterwards. Without JavaScript it stays false. */
export const useHydrated = () =>
  useSyncExternalStore(
    never,
    () => true,
    () => false,
  );

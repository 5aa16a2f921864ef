import { config } from "../config";

/**
 * Whether this address may get a new account.
 *
 * @param email as {@link parseAddress} spells it
 */
export function mayRegister(email: string): boolean {
  const { registration } = config();
  if (registration.mode !== "domains") return registration.mode === "open";
  return registration.domains.includes(email.slice(email.lastIndexOf("@") + 1));
}

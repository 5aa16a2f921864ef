import { config } from "../../config";

/** Whether accounts may have this address, as `parseAddress` returns it. `REGISTRATION_DOMAINS` may limit domains. */
export function mayHaveAddress(email: string): boolean {
  const { registration } = config();
  return registration.mode !== "domains" || registration.domains.includes(email.slice(email.lastIndexOf("@") + 1));
}

/** Whether this address may get a new account. */
export const mayRegister = (email: string): boolean => config().registration.mode !== "closed" && mayHaveAddress(email);

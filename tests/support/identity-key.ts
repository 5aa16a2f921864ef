import { randomBytes } from "node:crypto";

/** Settings with a new IDENTITY_KEY. */
export const identityTokens = () => ({ IDENTITY_TOKENS: "on", IDENTITY_KEY: randomBytes(32).toString("base64") });

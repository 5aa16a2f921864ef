// The one barrel: what several routes import of the server. Remix replaces a `*.server.ts` file by an empty CommonJS
// module, which the bundler keeps: a chunk, and a request at the first load, for each set of routes that imports it.
// This file has no side effect, so it is dropped with all that it imports.

export { providerLabel } from "#server/features/external-sign-in.server";
export { hasPasskeys, mostPasskeys, passkeysOf } from "#server/features/passkeys.server";
export { isResetLinkValid, requestPasswordReset, resetPassword } from "#server/features/password-reset.server";
export {
  completeRegistration,
  isRegistrationLinkValid,
  registrationMode,
  requestRegistration,
} from "#server/features/registration.server";
export { clientOf, factsOf, requesterOf } from "#server/http/request-facts.server";
export { deviceToken, withDevice } from "./device.server";
export { readFields, readForm, text } from "./form.server";
export { languageOf, textsFor, withLanguage } from "./language.server";
export { type LinkRefusal, linkParameters, readLinkForm } from "./mailed-link.server";
export { passkeyBrowser, passkeyOffered, wasPasskeyOffered } from "./passkey.server";
export { formTarget, formTargetHeader, returnToOf } from "./return-to.server";
export {
  browserOf,
  getUser,
  keepSession,
  leave,
  mustSignInAgain,
  ownerOf,
  requireGuest,
  requireUser,
  signIn,
} from "./session.server";

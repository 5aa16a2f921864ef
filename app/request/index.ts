// The one barrel: what several routes import of the server. Remix replaces a `*.server.ts` file by an empty CommonJS
// module, which the bundler keeps: a chunk, and a request at the first load, for each set of routes that imports it.
// This file has no side effect, so it is dropped with all that it imports.

export { clientOf, factsOf, requesterOf } from "#server/door/request-facts.server";
export {
  hasPasskeys,
  isQuestioned,
  mostPasskeys,
  passkeysOf,
  signalledAccount,
} from "#server/features/owner/passkeys.server";
export { providerLabel, redirectsToProvider } from "#server/features/visitor/external-sign-in.server";
export {
  isResetLinkLive,
  isResetLinkValid,
  requestPasswordReset,
  resetPassword,
} from "#server/features/visitor/password-reset.server";
export {
  completeRegistration,
  isRegistrationLinkLive,
  isRegistrationLinkValid,
  offersRegistration,
  registrationMode,
  requestRegistration,
} from "#server/features/visitor/registration.server";
export { formTarget, formTargetHeader, redirectToProvider, returnToOf } from "~/answers/return-to.server";
export { readFields, readForm, text } from "~/forms/form.server";
export { type LinkRefusal, linkParameters, openedLink, readLinkForm } from "~/forms/mailed-link.server";
export { deviceToken, withDevice } from "~/visitor/device.server";
export { languageOf, textsFor, withLanguage } from "~/visitor/language.server";
export { lastWay } from "~/visitor/last-sign-in.server";
export { lastPasskeyOffer, passkeyBrowser, passkeyOffered } from "~/visitor/passkey-ceremony.server";
export {
  browserOf,
  followsForm,
  getUser,
  keepSession,
  leave,
  mustSignInAgain,
  ownerOf,
  requireGuest,
  requireUser,
  signIn,
} from "~/visitor/session.server";
export { failureShown } from "~/visitor/sign-in-attempt.server";

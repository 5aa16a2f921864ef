// Imported directly, each of these two modules would be a chunk of its own (see `request.ts`): two chunks less, and one
// request less at the first load of each page that imports this file.
export { isResetLinkValid, requestPasswordReset, resetPassword } from "#server/features/password-reset.server";
export {
  completeRegistration,
  isRegistrationLinkValid,
  registrationMode,
  requestRegistration,
} from "#server/features/registration.server";

// Features that several routes import, here for the reason in `request.ts`: one request less at the first load.
export { isResetLinkValid, requestPasswordReset, resetPassword } from "#server/features/password-reset.server";
export {
  completeRegistration,
  isRegistrationLinkValid,
  registrationMode,
  requestRegistration,
} from "#server/features/registration.server";

/** Of an account before and after a change. */
export const goodPassword = "correct horse battery staple";
export const newPassword = "a brand new password";

/** The fields of a password that is typed twice. */
export const twice = (password: string) => ({ password, passwordConfirmation: password });

/** A new password as its form posts it. */
export const twice = (password: string) => ({ password, passwordConfirmation: password });

export const twice = (password: string) => ({ password, passwordConfirmation: password });

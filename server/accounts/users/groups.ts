const name = /^[a-z0-9][a-z0-9._-]{0,63}$/;

export const mostGroups = 32; // of a user

export const isGroup = (text: string): boolean => name.test(text);

export const sortedGroups = (names: string[]): string[] => [...new Set(names)].sort();

export const areGroups = (names: string[]): boolean => names.every(isGroup) && sortedGroups(names).length <= mostGroups;

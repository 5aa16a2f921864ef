/**
 * Text of which a terminal shows every character as it is. Others, such as controls, bidirectional overrides and invisible
 * characters, become `\uXXXX`; a space and a line feed stay.
 */
export const printable = (text: string) =>
  text.replace(/(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );

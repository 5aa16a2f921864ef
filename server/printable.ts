/** With `\uXXXX` for what a terminal does not show as is: controls, bidirectional overrides, invisible characters. */
export const printable = (text: string) =>
  text.replace(/(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu, (character) =>
    character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  );

/** The name in the titles and at the top of the pages. */
export const brand = "Latchkey";

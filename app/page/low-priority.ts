/** Attributes of a `<link>` whose file is not needed to show the page. React 18 does not know `fetchPriority`. */
export const lowPriority: object = { fetchpriority: "low" };

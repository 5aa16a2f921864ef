/** For a `<link>` to what a page is shown without. React 18 knows no `fetchPriority`. */
export const lowPriority: object = { fetchpriority: "low" };

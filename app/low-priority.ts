/** For a `<link>` to what a browser does not need to show a page. React 18 knows no `fetchPriority`. */
export const lowPriority: object = { fetchpriority: "low" };

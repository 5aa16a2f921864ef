import { fileURLToPath } from "node:url";

/** @param {string} path */
const folder = (path) => fileURLToPath(new URL(path, import.meta.url));

export const root = folder("../../");

export const alias = [
  { find: /^#server\//, replacement: folder("../../server/") },
  { find: /^~\//, replacement: folder("../../app/") },
];

/** Two transactions at once need two connections, and the embedded database is one. */
export const onPostgres = /^postgres/.test(process.env.DATABASE_URL ?? "");

/** In ms. A test that starts processes takes seconds, and longer on a busy machine. */
export const startsProcesses = { testTimeout: 120_000, hookTimeout: 120_000 };

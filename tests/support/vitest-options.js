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

/**
 * V8's second compiler of WebAssembly takes 1.2 s of the 2.6 s of CPU of a start on the embedded database. A process that
 * lives for seconds gains nothing by it.
 */
export const liftoffOnly = ["--liftoff-only"];

/** In ms. A test that starts processes takes seconds, and longer on a busy machine. */
export const startsProcesses = { testTimeout: 120_000, hookTimeout: 120_000 };

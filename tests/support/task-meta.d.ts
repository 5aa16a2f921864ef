import "vitest";

declare module "vitest" {
  /** What a test shows: docs/asvs.md lists it. */
  interface TaskMeta {
    asvs?: string[];
    advisories?: string[];
  }
}

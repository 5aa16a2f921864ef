import { advisories } from "./advisories.ts";
import { requirements } from "./requirements.ts";

/** What a test may have as a tag, for Vitest, which refuses every other one. */
export const tags = [...requirements.map(({ id }) => id), ...Object.keys(advisories)].map((name) => ({ name }));

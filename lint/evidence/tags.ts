import { advisories } from "./advisories";
import { requirements } from "./requirements";

/** What a test may have as a tag, for Vitest, which refuses every other one. */
export const tags = [...requirements.map(({ id }) => id), ...Object.keys(advisories)].map((name) => ({ name }));

/** How often a property is tried: `PROPERTY_RUNS` times as often as in `npm test`, as before a release. */
export const runs = (inNpmTest: number): number => inNpmTest * Number(process.env.PROPERTY_RUNS ?? 1);

import { endpointOf } from "#server/endpoints";

/** The answer of an endpoint before Remix; `null` for none. */
export const callEndpoint = async (path: string) => (await endpointOf(path)?.answer()) ?? null;

import { endpointOf } from "#server/endpoints/endpoints";
import { factsAbout, get, type RequestOptions } from "./route-calls";

/** The answer of an endpoint before Remix; `null` for none. */
export async function callEndpoint(path: string, { headers, cookie, facts }: RequestOptions = {}) {
  const about = factsAbout(get(path, { facts }));
  Object.assign(about.response.req.headers, headers, cookie && { cookie });
  return (await endpointOf(path)?.answer(about)) ?? null;
}

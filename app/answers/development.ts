import { factsOf } from "#server/door/request-facts";
import { isLoopbackHost } from "#server/features/visitor/development";

/** A page of another site can reach this machine by DNS rebinding: the browser sends that site's host name. */
export function requireLoopbackHost(request: Request): void {
  if (!isLoopbackHost(factsOf(request).host)) throw new Response(null, { status: 404 });
}

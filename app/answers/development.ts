import { factsOf } from "#server/door/request-facts";
import { isLoopbackHost } from "#server/features/visitor/development";

/** Against DNS rebinding: a page of another site can reach this machine, but its browser sends the site's host name. */
export function requireLoopbackHost(request: Request): void {
  if (!isLoopbackHost(factsOf(request).host)) throw new Response(null, { status: 404 });
}

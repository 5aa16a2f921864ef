import type { EntryContext } from "@remix-run/node";
import { Scripts } from "@remix-run/react";
import { Children, cloneElement, isValidElement, type ReactNode } from "react";
import { lowPriority, usePage } from "./page/page-context";

// What this application knows of Remix besides its documented interface, as read in version 2.17.5.
// tests/http/loading.test.ts fails when it changes.

type Manifest = EntryContext["manifest"];

/**
 * Remix preloads the chunks that a route imports, about ten small ones. On a slow connection they compete with the
 * stylesheet and React; imported by the route's module, they arrive at about the same time as React.
 */
export function preloadRoutesOnly(manifest: Manifest): void {
  for (const route of Object.values(manifest.routes)) delete route.imports;
}

/** For each route the routes with its path: itself, its index routes and the pathless ones inside it. */
function routesByPath({ routes }: Manifest): Map<string, string[]> {
  const atPathOf = (parent: string): string[] =>
    Object.values(routes)
      .filter(({ parentId, index, path }) => parentId === parent && (index || path === undefined))
      .flatMap(({ id }) => [id, ...atPathOf(id)]);
  return new Map(Object.keys(routes).map((id) => [id, [id, ...atPathOf(id)]]));
}

/**
 * A function that prepares what `RemixServer` renders a page from.
 *
 * Only with the routes of this page: it creates every route of the manifest and matches it twice, a tenth of a page's
 * time. The routes at the same paths are among them, because a browser asks for no index route of a route that it knows.
 *
 * With the loaders' data: Remix streams it after the page. No loader here defers data, so it is read first, and the page
 * is rendered once and sent with its length.
 */
export function renderedOnce(manifest: Manifest): (context: EntryContext) => Promise<EntryContext> {
  const samePath = routesByPath(manifest);
  return async (context) => {
    const value = await new Response(context.serverHandoffStream).text();
    const read = Object.assign(Promise.resolve(), { result: { done: true, value }, error: undefined });
    const { matches } = context.staticHandlerContext;
    const own = matches.flatMap(({ route }) => samePath.get(route.id) ?? []);
    const routes = Object.fromEntries(own.map((id) => [id, manifest.routes[id]])) as Manifest["routes"];
    return {
      ...context,
      manifest: { ...context.manifest, routes },
      serverHandoffStream: new ReadableStream(),
      renderMeta: { streamCache: { 0: read } },
    };
  };
}

const withLowPriority = (child: ReactNode) =>
  isValidElement(child) && child.type === "link" ? cloneElement(child, lowPriority) : child;

/**
 * Remix's scripts. A browser gives `modulepreload` a high priority, and a page is shown, and works, without them: on a
 * slow connection the first paint comes twice as early. `<Scripts />` has no option for it.
 */
export function PageScripts() {
  const scripts = Scripts({ nonce: usePage().nonce });
  return scripts && <>{Children.map(scripts.props.children, withLowPriority)}</>;
}

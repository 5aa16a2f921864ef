import type { EntryContext } from "@remix-run/node";
import { Scripts } from "@remix-run/react";
import { Children, cloneElement, isValidElement, type ReactNode } from "react";
import { lowPriority, usePage } from "./page-context";

// What this application knows of Remix besides its documented interface, as read in version 2.17.5.
// tests/document/loading.built.test.ts fails when it changes.

type Manifest = EntryContext["manifest"];

/** The chunks that a route imports compete with the stylesheet and React, and arrive in time without a preload. */
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
 * Prepares what `RemixServer` renders a page from. Only with the routes of this page, and those at the same paths: all of
 * the manifest's take a tenth of a page's time. With the loaders' data, which Remix streams after the page: no loader here
 * defers data, so the page is rendered once and sent with its length.
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

const storageFallback =
  "try{sessionStorage}catch{Object.defineProperty(window,`sessionStorage`,{value:{getItem(){},setItem(){},removeItem(){}}})}";

/** Where all cookies are blocked, reading `sessionStorage` throws: in the script of `ScrollRestoration`, and of lazy routes. */
export const StorageFallback = () => (
  <script nonce={usePage().nonce} suppressHydrationWarning>
    {storageFallback}
  </script>
);

/** A page is shown without its scripts: at low priority, the first paint on a slow connection comes twice as early. */
export function PageScripts() {
  const scripts = Scripts({ nonce: usePage().nonce });
  return scripts && <>{Children.map(scripts.props.children, withLowPriority)}</>;
}

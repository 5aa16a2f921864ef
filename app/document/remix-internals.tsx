import type { EntryContext } from "@remix-run/node";
import { Scripts } from "@remix-run/react";
import { Children, cloneElement, isValidElement, type ReactNode } from "react";
import { lowPriority, usePage } from "./page-context";

// This file depends on undocumented parts of Remix, as read in version 2.17.5.
// tests/document/loading.built.test.ts fails when they change.

type Manifest = EntryContext["manifest"];

/** Preloads of the chunks that a route imports delay the stylesheet and React. The chunks arrive in time without. */
export function preloadRoutesOnly(manifest: Manifest): void {
  for (const route of Object.values(manifest.routes)) delete route.imports;
}

/**
 * Prepares the context from which `RemixServer` renders a page. It has only the routes of this page and those at the
 * same paths: all routes of the manifest take a tenth of a page's time. It has the loaders' data, which Remix would
 * stream after the page: no loader here defers data, so the page is rendered once and sent with its length.
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

/** Maps each route to the routes with its path: itself, its index routes and its pathless child routes. */
function routesByPath({ routes }: Manifest): Map<string, string[]> {
  const atPathOf = (parent: string): string[] =>
    Object.values(routes)
      .filter(({ parentId, index, path }) => parentId === parent && (index || path === undefined))
      .flatMap(({ id }) => [id, ...atPathOf(id)]);
  return new Map(Object.keys(routes).map((id) => [id, [id, ...atPathOf(id)]]));
}

/** With all cookies blocked, reading `sessionStorage` throws in `ScrollRestoration` and in the loading of routes. */
const storageFallback =
  "try{sessionStorage}catch{Object.defineProperty(window,`sessionStorage`,{value:{getItem(){},setItem(){},removeItem(){}}})}";

/**
 * Remix replaces a history entry without a state during hydration. In WebKit, this cancels the navigation of a link
 * that was clicked just before.
 */
const historyState = "history.state??history.replaceState({key:Math.random().toString(32).slice(2),idx:0},``)";

/** Where there are no passkeys, hides their elements before the first paint: later, that would move links. */
const noPasskeys = "window.PublicKeyCredential??document.documentElement.classList.add(`no-passkeys`)";

const beforeHydration = [storageFallback, historyState, noPasskeys].join(";");

/** React would escape quotation marks, `&`, `<` and `>`: the scripts have none. */
export const BeforeHydration = () => (
  <script nonce={usePage().nonce} suppressHydrationWarning>
    {beforeHydration}
  </script>
);

/** A page needs no scripts to be shown. Their low priority halves the time to the first paint on a slow connection. */
export function PageScripts() {
  const scripts = Scripts({ nonce: usePage().nonce });
  return scripts && <>{Children.map(scripts.props.children, withLowPriority)}</>;
}

const withLowPriority = (child: ReactNode) =>
  isValidElement(child) && child.type === "link" ? cloneElement(child, lowPriority) : child;

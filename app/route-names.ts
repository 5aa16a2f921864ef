import { matchRoutes } from "@remix-run/react";

interface ManifestRoute {
  id: string;
  parentId?: string;
  path?: string;
  index?: boolean;
}

/** Every route with its whole path. */
function wholePaths(routes: Record<string, ManifestRoute>) {
  const pathOf = ({ path, parentId }: ManifestRoute): string => {
    const parent = parentId === undefined ? undefined : routes[parentId];
    return [parent && pathOf(parent), path].filter(Boolean).join("/");
  };
  return Object.values(routes).map((route) => ({
    id: route.id,
    path: `/${pathOf(route)}`,
    index: route.index === true,
  }));
}

/**
 * A function that names the route of a path, by its id in Remix; `build` is any file of the browser's bundle. Most
 * requests are for a path without a parameter, which is looked up: matching costs Remix a tenth of a page's time.
 */
export function routeNames(routes: Record<string, ManifestRoute>): (path: string) => string {
  const all = wholePaths(routes);
  const literal = all.filter(({ path }) => !/[:*?]/.test(path)).sort((a, b) => Number(a.index) - Number(b.index));
  const byPath = new Map(literal.map(({ path, id }) => [path, id]));
  return (requested) => {
    if (requested.startsWith("/build/")) return "build";
    const path = requested === "/_root.data" ? "/" : requested.replace(/\.data$/, "");
    return byPath.get(path) ?? matchRoutes(all, path)?.at(-1)?.route.id ?? "none";
  };
}

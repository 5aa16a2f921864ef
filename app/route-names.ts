import { matchRoutes } from "@remix-run/react";

interface ManifestRoute {
  id: string;
  parentId?: string;
  path?: string;
  index?: boolean;
}

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

/** Returns a function from a path to the id of its Remix route; `build` for every file of the browser's bundle. */
export function routeNames(routes: Record<string, ManifestRoute>): (path: string) => string {
  const all = wholePaths(routes);
  return (requested) => {
    if (requested.startsWith("/build/")) return "build";
    const path = requested === "/_root.data" ? "/" : requested.replace(/\.data$/, "");
    return matchRoutes(all, path)?.at(-1)?.route.id ?? "none";
  };
}

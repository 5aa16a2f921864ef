// The least that remix-serve can serve, in the shape that `remix build` writes: a root and one empty route.
const route = { caseSensitive: undefined, hasAction: false, hasLoader: true, hasErrorBoundary: false, imports: [] };
const root = { id: "root", path: "" };
const login = { id: "routes/login", parentId: "root", path: "login" };

export const mode = "production";
export const publicPath = "/build/";
export const assetsBuildDirectory = "public/build";
export const future = {};
export const isSpaMode = false;
export const assets = {
  entry: { imports: [], module: "" },
  routes: { root: { ...route, ...root, module: "" }, "routes/login": { ...route, ...login, module: "" } },
  url: "",
  version: "1",
};
export const entry = { module: { default: () => new Response(null) } };
export const routes = {
  root: { ...root, module: { default: () => null } },
  "routes/login": { ...login, module: { loader: () => new Response("") } },
};

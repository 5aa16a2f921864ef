// Set by `remix dev`. Other builds leave out the pages that show mails.
const development = process.env.NODE_ENV === "development";

/** @type {import('@remix-run/dev').AppConfig} */
export default {
  serverModuleFormat: "esm",
  serverPlatform: "node",
  serverDependenciesToBundle: [/^#server\//, "zod"], // without zod, each start reads 95 files
  ignoredRouteFiles: development ? ["**/.*"] : ["**/.*", "**/dev.*"],
  watchPaths: ["./server/**/*", "./mikro-orm.config.ts"],
  future: {
    v3_fetcherPersist: true,
    v3_lazyRouteDiscovery: true,
    v3_relativeSplatPath: true,
    v3_singleFetch: true,
    v3_throwAbortReason: true,
  },
};

/** The layers of `app/` and of `server/`. Each may import those below it, and none above it. */
const pageLayers = [
  "^app/routes/",
  "^app/components/",
  "^app/account/",
  "^app/forms/",
  "^app/visitor/",
  "^app/answers/",
  "^app/document/",
];
const layers = [
  "^server/((start|job-handlers|cli|processes)\\.ts$|endpoints/)",
  "^server/commands/",
  "^server/features/",
  "^server/accounts/",
  "^server/(queue|mail|provider)/",
  "^server/database/",
  "^server/door/",
  "^server/(calls|files)/",
  "^server/([^/]+\\.ts$|(process|visitor|events)/)",
  "^server/settings/",
  "^server/mail-services/",
  "^server/(crypto|origins)/",
  "^server/languages/",
];

const upward = (name, layers, above) =>
  layers.map((layer, index) => ({
    name: `no-import-upward-in-${name}-${index + 1}`,
    comment: "A layer imports the layers below it only.",
    severity: "error",
    from: { path: layer, pathNot: layers.slice(0, index) },
    to: { path: [...above, ...layers.slice(0, index)] },
  }));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    { name: "no-cycle", severity: "error", from: {}, to: { circular: true } },
    ...upward("app", pageLayers, ["^app/[^/]+$"]),
    ...upward("server", layers, ["^app/"]),
    {
      name: "ways-out-are-separate",
      comment: "Queue, mail and identity provider know nothing of each other.",
      severity: "error",
      from: { path: "^server/(queue|mail|provider)/" },
      to: { path: "^server/(queue|mail|provider)/", pathNot: "^server/$1/" },
    },
    {
      name: "app-imports-features",
      comment:
        "Pages import features, the provider's client, the facts of a request, the configuration, and what both share.",
      severity: "error",
      from: { path: "^app/", pathNot: "^app/entry\\.server\\.tsx$" },
      to: {
        path: "^server/",
        pathNot: [
          "^server/features/",
          "^server/accounts/session-binding/offer\\.ts$",
          "^server/(door/(request-facts|session-cookies)|provider/(client|label))\\.ts$",
          "^server/(config|errors|rules)\\.ts$",
          "^server/(crypto/oslo|events/sign-in-failures|origins/return-to)\\.ts$",
          "^server/(files|visitor)/",
          "^server/languages/",
        ],
      },
    },
    {
      name: "texts-are-not-bundled",
      comment: "A browser gets the texts of one language, in the page.",
      severity: "error",
      from: { path: "^app/" },
      to: {
        path: "^server/languages/",
        pathNot: "^server/languages/(languages|translate)\\.ts$",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "entry-starts-the-service",
      severity: "error",
      from: { path: "^app/entry\\.server\\.tsx$" },
      to: { path: "^server/", pathNot: "^server/(start|rules|door/request-facts)\\.ts$" },
    },
    {
      name: "no-route-imports-a-route",
      severity: "error",
      from: { path: "^app/" },
      to: { path: "^app/routes/" },
    },
    {
      name: "components-run-in-the-browser",
      comment: "A browser runs them, and gets an empty module for what package.json does not name in `imports`.",
      severity: "error",
      from: { path: "^app/components/" },
      to: {
        path: ["^server/", "^app/(account|forms|visitor|answers)/"],
        pathNot: [
          "^server/rules\\.ts$",
          "^server/languages/(languages|translate)\\.ts$",
          "^app/answers/return-to\\.ts$",
        ],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "oslo-has-one-file",
      severity: "error",
      from: { pathNot: "^server/crypto/oslo\\.ts$" },
      to: { path: "^(?:node_modules/)?oslo/" },
    },
    { name: "no-test-code", severity: "error", from: { path: "^(app|server)/" }, to: { path: "^(bench|demo|tests)/" } },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "\\.css$" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
  },
};

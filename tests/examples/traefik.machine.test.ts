import { readdir, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { endpointOf } from "#server/endpoints";
import { withPreflights } from "./example";

// Traefik itself is in no Debian package. This knows the options that the file uses, by the names of Traefik 3's reference
// of the file provider, and refuses every other one.
const named = <Shape extends z.ZodType>(shape: Shape) => z.record(z.string(), shape);
const options = z.strictObject({
  http: z.strictObject({
    routers: named(
      z.strictObject({
        entryPoints: z.array(z.string()),
        rule: z.string(),
        service: z.string(),
        middlewares: z.array(z.string()).optional(),
      }),
    ),
    middlewares: named(
      z.strictObject({
        forwardAuth: z.strictObject({ address: z.url(), authResponseHeadersRegex: z.string() }).optional(),
        headers: z.strictObject({ customRequestHeaders: named(z.literal("")) }).optional(),
      }),
    ),
    services: named(
      z.strictObject({ loadBalancer: z.strictObject({ servers: z.array(z.strictObject({ url: z.url() })) }) }),
    ),
  }),
});

const read = (name: string) => readFile(`examples/${name}`, "utf8");

test.each([
  ["as it is", ["latchkey", "application"], (text: string) => text],
  ["with the lines for CORS preflights", ["latchkey", "application", "preflight"], withPreflights],
])("the options are known, and every service and middleware is there: %s", async (_how, routers, change) => {
  const { http } = options.parse(parse(change(await read("traefik.yaml"))));
  expect(Object.keys(http.routers)).toEqual(routers);
  for (const { service, middlewares = [] } of Object.values(http.routers)) {
    expect(Object.keys(http.services)).toContain(service);
    for (const name of middlewares) expect(Object.keys(http.middlewares)).toContain(name);
  }
});

// Traefik first removes the headers of the request whose names match, as Go writes them: the first letter, and each one
// after a hyphen, in upper case, all others in lower case. Then it sets those of the answer that match.
test("the application gets no Remote-* header but those of Latchkey's answer", async () => {
  const { http } = options.parse(parse(await read("traefik.yaml")));
  expect(http.routers.application?.middlewares).toEqual(["sign-in"]);
  expect(http.middlewares).toEqual({
    "sign-in": {
      forwardAuth: { address: "http://127.0.0.1:3000/auth/verify", authResponseHeadersRegex: expect.any(String) },
    },
  });
  const names = new RegExp(http.middlewares["sign-in"]?.forwardAuth?.authResponseHeadersRegex ?? "");
  const removed = ["User", "Email", "Name", "Groups", "Token", "Role"]
    .map((name) => `Remote-${name}`)
    .concat("Remote_user", "Remote.user");
  expect([...removed, "X-Remote-User", "Set-Cookie"].filter((name) => names.test(name))).toEqual(removed);
});

test("the three proxies pass the same paths to Latchkey", async () => {
  const paths = (text: string) => /\^\/\(\?:login[^\s"`]*/.exec(text)?.[0];
  const [nginx, caddy, traefik] = await Promise.all(["nginx.conf", "Caddyfile", "traefik.yaml"].map(read));
  expect(paths(nginx ?? "")).toMatch(/^\^\/\(\?:login\|.*\)\(\?:\[\/\.\]\|\$\)$/);
  expect(paths(caddy ?? "")).toBe(paths(nginx ?? ""));
  expect(paths(traefik ?? "")).toBe(paths(nginx ?? ""));
});

/** The URL of a route's file, as Remix derives it. */
function urlOf(file: string): string {
  const name = file
    .replace(/\.tsx?$/, "")
    .replace(/\[([^\]]+)\]/g, (_, escaped: string) => escaped.replaceAll(".", "\0"))
    .replaceAll("_.", ".")
    .replace(/\.?_index$/, "");
  return `/${name.replaceAll(".", "/").replaceAll("\0", ".")}`;
}

const endpoints = [
  "/.well-known/change-password",
  "/.well-known/jwks.json",
  "/.well-known/passkey-endpoints",
  "/__files/colors.css",
];

test("these paths are those of the pages and of the endpoints for browsers and applications", async () => {
  const [, list = ""] = /"\^\/(\(\?:login\S*)" /.exec(await read("nginx.conf")) ?? [];
  const isPassedOn = new RegExp(`^/${list}`);
  const urls = (await readdir("app/routes")).map(urlOf);
  expect(urls).toContain("/register/complete");
  for (const path of endpoints)
    expect([path, endpointOf(path) !== undefined, isPassedOn.test(path)]).toEqual([path, true, true]);
  const own = ["/", "/$", "/dev/mails", "/dev/mails/$position", "/dev/session"];
  expect(urls.filter((url) => !isPassedOn.test(url)).sort()).toEqual(own.sort());
});

import { readdir, readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { endpointOf } from "#server/endpoints/endpoints";
import { withPreflights, withPrograms, withRecentSignIn } from "./example";

const read = (name: string) => readFile(`examples/${name}`, "utf8");

// Traefik itself is in no Debian package: these are the names of Traefik 3's reference of the file provider.
const router = (service: string, ...middlewares: string[]) => ({
  entryPoints: ["web"],
  rule: expect.stringMatching(/^Host\(`localhost`\)/),
  service,
  ...(middlewares.length > 0 && { middlewares }),
});
const service = (port: number) => ({ loadBalancer: { servers: [{ url: `http://127.0.0.1:${port}` }] } });
const routers = { latchkey: router("latchkey"), application: router("application", "sign-in") };
const services = { latchkey: service(3000), application: service(8000) };
const forwardAuth = { address: "http://127.0.0.1:3000/auth/verify", authResponseHeadersRegex: expect.any(String) };
const user = ["User", "Email", "Name", "Groups", "Token"].map((name) => `Remote-${name}`);

test("the file asks Latchkey of each request for the application", async () => {
  const file = await read("traefik.yaml");
  expect(parse(file)).toEqual({ http: { routers, services, middlewares: { "sign-in": { forwardAuth } } } });
});

test("with the lines for CORS preflights the file asks Latchkey of none", async () => {
  const customRequestHeaders = Object.fromEntries(user.map((name) => [name, ""]));
  expect(parse(withPreflights(await read("traefik.yaml")))).toEqual({
    http: {
      routers: { ...routers, preflight: router("application", "no-user") },
      services,
      middlewares: { "sign-in": { forwardAuth }, "no-user": { headers: { customRequestHeaders } } },
    },
  });
});

test("with the lines for a recent sign-in the file asks for one of the last ten minutes", async () => {
  const file = await read("traefik.yaml");
  const payments = router("application", "recent-sign-in");
  const address = `${forwardAuth.address}?group=staff&max_age=600`;
  expect(parse(withRecentSignIn(file))).toEqual({
    http: {
      routers: { ...routers, payments },
      services,
      middlewares: { "sign-in": { forwardAuth }, "recent-sign-in": { forwardAuth: { ...forwardAuth, address } } },
    },
  });
});

test("with the lines for programs the file asks for tokens, and the application gets none", async () => {
  const address = `${forwardAuth.address}?tokens=on`;
  const customRequestHeaders = { Authorization: "", "X-Latchkey-Token": "" };
  expect(parse(withPrograms(await read("traefik.yaml")))).toEqual({
    http: {
      routers: { ...routers, programs: router("application", "tokens", "no-token") },
      services,
      middlewares: {
        "sign-in": { forwardAuth },
        tokens: { forwardAuth: { ...forwardAuth, address } },
        "no-token": { headers: { customRequestHeaders } },
      },
    },
  });
});

// Traefik first removes the headers of the request whose names match, as Go writes them: the first letter, and each one
// after a hyphen, in upper case, all others in lower case. Then it sets those of the answer that match.
test("the application gets Remote-* headers of Latchkey's answer alone", async () => {
  const { http } = parse(await read("traefik.yaml"));
  const names = new RegExp(http.middlewares["sign-in"].forwardAuth.authResponseHeadersRegex);
  const removed = [...user, "Remote-Role", "Remote_user", "Remote.user"];
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

describe("these paths", () => {
  const own = ["/", "/$", "/dev/mails", "/dev/mails/$position", "/dev/session"];

  async function passedOn(): Promise<RegExp> {
    const [, list = ""] = /"\^\/(\(\?:login\S*)" /.exec(await read("nginx.conf")) ?? [];
    return new RegExp(`^/${list}`);
  }

  test("have every page", async () => {
    const isPassedOn = await passedOn();
    const urls = (await readdir("app/routes")).map(urlOf);
    expect(urls).toContain("/register/complete");
    expect(urls.filter((url) => !isPassedOn.test(url)).sort()).toEqual(own.sort());
  });

  test.each(endpoints)("have the endpoint %s", async (path) => {
    expect([endpointOf(path) !== undefined, (await passedOn()).test(path)]).toEqual([true, true]);
  });
});

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";

const read = (name: string) => parse(readFileSync(`deploy/${name}`, "utf8"));
const postgres = read("compose.yaml");
const embedded = read("compose.embedded.yaml");

const files = [
  ["compose.yaml", postgres],
  ["compose.embedded.yaml", embedded],
] as const;

interface Service {
  networks: string[];
  secrets?: string[];
  volumes?: string[];
}

test.each(files)("%s declares every network, secret and volume that its services use, and no other", (_, file) => {
  const services = Object.values<Service>(file.services);
  const used = (of: (service: Service) => string[] | undefined) => [...new Set(services.flatMap(of))].sort();
  const declared = (part: object) => Object.keys(part).sort();
  expect(used(({ networks }) => networks)).toEqual(declared(file.networks));
  expect(used(({ secrets = [] }) => secrets)).toEqual(declared(file.secrets));
  const named = ({ volumes = [] }: Service) => volumes.filter((volume) => !volume.startsWith("."));
  expect(used((service) => named(service).map((volume) => volume.replace(/:.*/, "")))).toEqual(declared(file.volumes));
});

test.each(files)("%s publishes Latchkey's port to this machine alone", (_, { services }) => {
  expect(services.latchkey.ports).toEqual(["127.0.0.1:3000:3000"]);
});

test.each(files)("in %s the proxies that Latchkey believes are those in its network", (_, { services, networks }) => {
  expect(networks.outside.ipam.config).toEqual([{ subnet: services.latchkey.environment.TRUST_PROXY }]);
});

test.each(files)("%s starts Caddy only as a profile, with deploy/Caddyfile in front of Latchkey", (_, { services }) => {
  const { profiles, environment, volumes } = services.caddy;
  expect(profiles).toEqual(["caddy"]);
  expect(volumes).toContain("./Caddyfile:/etc/caddy/Caddyfile:ro");
  const upstream = /reverse_proxy \{\$(\w+):/.exec(readFileSync("deploy/Caddyfile", "utf8"))?.[1] ?? "";
  expect(environment).toEqual({ [upstream]: "latchkey:3000" });
});

test("both files differ in the database alone", () => {
  const { latchkey, caddy } = postgres.services;
  const { DATABASE_URL_FILE: _, ...environment } = latchkey.environment;
  const { depends_on: __, ...common } = latchkey;
  const own = embedded.services.latchkey;
  const { DATABASE_URL, ...ownEnvironment } = own.environment;
  expect({ environment: ownEnvironment, caddy: embedded.services.caddy }).toEqual({ environment, caddy });
  expect(own).toEqual({
    ...common,
    environment: { ...environment, DATABASE_URL },
    secrets: common.secrets.filter((name: string) => name !== "database-url"),
    networks: ["outside"],
    volumes: ["data:/var/lib/latchkey"],
  });
});

test("the Caddyfile of the examples keeps tokens out of the log by the filter of deploy/Caddyfile", () => {
  const filterOf = (folder: string) =>
    /format filter \{[\s\S]*?\n\t\t\}/.exec(readFileSync(`${folder}/Caddyfile`, "utf8"))?.[0];
  expect(filterOf("deploy")).toContain("request>uri regexp");
  expect(filterOf("examples")).toBe(filterOf("deploy"));
});

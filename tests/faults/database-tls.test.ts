import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { PostgresCluster } from "../support/postgres-cluster";

const names = ["DNS:localhost", "IP:127.0.0.1"] as const;

let clusters: Record<(typeof names)[number], PostgresCluster>;
let folder: string;

beforeAll(async () => {
  const authority = createAuthority();
  const start = (name: string) => PostgresCluster.start({ certificate: authority.sign(name) });
  clusters = { [names[0]]: await start(names[0]), [names[1]]: await start(names[1]) };
  folder = await mkdtemp(join(tmpdir(), "latchkey-tls-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "other.pem"), createAuthority().ca);
});

afterAll(async () => {
  for (const cluster of Object.values(clusters)) await cluster.remove();
  await rm(folder, { recursive: true });
});

/** @param name of the certificate of the server */
const open = (host: string, name: (typeof names)[number], parameters: string) =>
  openDatabase(`postgresql://postgres@${host}:${clusters[name].port}/postgres${parameters}`);

const verified = () => `?sslmode=verify-full&sslrootcert=${folder}/ca.pem`;

test.each([
  ["localhost", names[0]],
  ["127.0.0.1", names[1]],
] as const)(
  "with sslmode=verify-full and the server's authority the connection to %s is encrypted",
  { meta: { asvs: ["12.3.1"] } },
  async (host, name) => {
    const { orm, close } = await open(host, name, verified());
    const rows = await orm.em.fork().execute("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
    await close();
    expect(rows).toEqual([{ ssl: true }]);
  },
);

test.each([
  ["127.0.0.1", names[0]],
  ["localhost", names[1]],
] as const)(
  "a server at %s whose certificate is for %s is refused",
  { meta: { asvs: ["12.3.2"] } },
  async (host, name) => {
    await expect(open(host, name, verified())).rejects.toThrow(/cannot be used: Hostname\/IP does not match/);
  },
);

test("a server whose certificate is another authority's is refused", async () => {
  const opened = open("localhost", names[0], `?sslmode=verify-full&sslrootcert=${folder}/other.pem`);
  await expect(opened).rejects.toThrow(/^The database at localhost:\d+\/postgres cannot be used: .*certificate/);
});

test("without sslmode the connection is not encrypted, and a server that asks for TLS refuses it", async () => {
  await expect(open("localhost", names[0], "")).rejects.toThrow(/no encryption/);
});

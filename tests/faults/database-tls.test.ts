import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { PostgresCluster } from "../support/postgres-cluster";

let cluster: PostgresCluster;
let folder: string;
let address: string;

beforeAll(async () => {
  const authority = createAuthority();
  cluster = await PostgresCluster.start({ certificate: authority.sign("DNS:localhost") });
  folder = await mkdtemp(join(tmpdir(), "latchkey-tls-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "other.pem"), createAuthority().ca);
  address = `localhost:${cluster.port}/postgres`;
});

afterAll(async () => {
  await cluster.remove();
  await rm(folder, { recursive: true });
});

const open = (parameters: string) => openDatabase(`postgresql://postgres@${address}${parameters}`);

test("with sslmode=verify-full and the server's authority the connection is encrypted", async () => {
  const { orm, close } = await open(`?sslmode=verify-full&sslrootcert=${folder}/ca.pem`);
  const rows = await orm.em.fork().execute("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
  await close();
  expect(rows).toEqual([{ ssl: true }]);
});

test("a server whose certificate is another authority's is refused", async () => {
  await expect(open(`?sslmode=verify-full&sslrootcert=${folder}/other.pem`)).rejects.toThrow(
    /^The database at localhost:\d+\/postgres cannot be used: .*certificate/,
  );
});

test("without sslmode the connection is not encrypted, and a server that asks for TLS refuses it", async () => {
  await expect(open("")).rejects.toThrow(/no encryption/);
});

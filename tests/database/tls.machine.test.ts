import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { PostgresCluster } from "../support/postgres-cluster";

let cluster: PostgresCluster;
let folder: string;

beforeAll(async () => {
  const authority = createAuthority();
  cluster = await PostgresCluster.start({ certificate: authority.sign("DNS:localhost") });
  folder = await mkdtemp(join(tmpdir(), "latchkey-tls-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "other.pem"), createAuthority().ca);
});

afterAll(async () => {
  await cluster.remove();
  await rm(folder, { recursive: true });
});

const open = (host: string, parameters: string) =>
  openDatabase(`postgresql://postgres@${host}:${cluster.port}/postgres${parameters}`);

const verified = () => `?sslmode=verify-full&sslrootcert=${folder}/ca.pem`;

test("with sslmode=verify-full and the server's authority the connection is encrypted", {
  tags: "12.3.1",
}, async () => {
  const { orm, close } = await open("localhost", verified());
  const rows = await orm.em.fork().execute("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
  await close();
  expect(rows).toEqual([{ ssl: true }]);
});

test("a server whose certificate is for another name is refused", { tags: "12.3.2" }, async () => {
  await expect(open("127.0.0.1", verified())).rejects.toThrow(/cannot be used: Hostname\/IP does not match/);
});

test("a server whose certificate is another authority's is refused", async () => {
  const opened = open("localhost", `?sslmode=verify-full&sslrootcert=${folder}/other.pem`);
  await expect(opened).rejects.toThrow(/^The database at localhost:\d+\/postgres cannot be used: .*certificate/);
});

test("without sslmode the connection is not encrypted, and a server that asks for TLS refuses it", async () => {
  await expect(open("localhost", "")).rejects.toThrow(/no encryption/);
});

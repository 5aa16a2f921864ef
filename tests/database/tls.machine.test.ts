import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase } from "#server/database/orm";
import { createAuthority } from "../support/certificates";
import { giveToPostgres, PostgresCluster } from "../support/postgres-cluster";

let cluster: PostgresCluster;
let folder: string;

beforeAll(async () => {
  const authority = createAuthority();
  const client = authority.sign("DNS:client");
  folder = await mkdtemp(join(tmpdir(), "latchkey-tls-"));
  await writeFile(join(folder, "ca.pem"), authority.ca);
  await writeFile(join(folder, "other.pem"), createAuthority().ca);
  await writeFile(join(folder, "client.pem"), client.cert);
  await writeFile(join(folder, "client.key"), client.key);
  giveToPostgres(folder);
  const settings = { ssl_ca_file: `${folder}/ca.pem` };
  cluster = await PostgresCluster.start({ certificate: authority.sign("DNS:localhost"), settings });
});

afterAll(async () => {
  await cluster.remove();
  await rm(folder, { recursive: true });
});

const open = (host: string, parameters: string) =>
  openDatabase(`postgresql://postgres@${host}:${cluster.port}/postgres${parameters}`);

test("sslmode=verify-full encrypts the connection to a server of the trusted authority", {
  tags: "12.3.1",
}, async () => {
  const { orm, close } = await open("localhost", `?sslmode=verify-full&sslrootcert=${folder}/ca.pem`);
  const rows = await orm.em.fork().execute("select ssl from pg_stat_ssl where pid = pg_backend_pid()");
  await close();
  expect(rows).toEqual([{ ssl: true }]);
});

test("the server is shown the client certificate of sslcert", { tags: "13.2.1" }, async () => {
  const client = `sslcert=${folder}/client.pem&sslkey=${folder}/client.key`;
  const { orm, close } = await open("localhost", `?sslmode=verify-full&sslrootcert=${folder}/ca.pem&${client}`);
  const rows = await orm.em.fork().execute("select client_dn from pg_stat_ssl where pid = pg_backend_pid()");
  await close();
  expect(rows).toEqual([{ client_dn: "/CN=Test" }]);
});

test.each([
  [
    "whose certificate is for another name",
    "127.0.0.1",
    "?sslmode=verify-full&sslrootcert=FOLDER/ca.pem",
    /Hostname\/IP/,
  ],
  [
    "whose certificate is another authority's",
    "localhost",
    "?sslmode=verify-full&sslrootcert=FOLDER/other.pem",
    /cert/,
  ],
  ["that asks for TLS beside a URL without sslmode", "localhost", "", /no encryption/],
])("a server %s is refused", { tags: "12.3.2" }, async (_what, host, parameters, reason) => {
  const opened = open(host, parameters.replace("FOLDER", folder));
  await expect(opened).rejects.toThrow(new RegExp(`^The database at .*/postgres cannot be used: .*${reason.source}`));
});

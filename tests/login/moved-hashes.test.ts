import crypto, { pbkdf2Sync, scryptSync } from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { importUsers } from "#server/features/operator/user-import";
import { logIn } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";
import { statementsOf } from "../support/statements";
import { expectReplacedAtLogin } from "../support/stored-hashes";

const latchkey = startLatchkey({}, { onNewDatabase: true });

const email = "ada@example.com";
const statusOf = async (password: string, address = email) => (await logIn({ email: address, password })).status;

const importHash = (passwordHash: string, address = email) =>
  importUsers([JSON.stringify({ email: address, passwordHash })], () => {});

/** Also for the modules that import the function by its name. */
function spyOn(name: "pbkdf2" | "scrypt") {
  const spy = vi.spyOn(crypto, name);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
}

const umlauts = "mu \u00b5, two \u00b2 and more"; // NFKC changes it

/** Made by the programs of their names with `goodPassword`, where no other password stands beside them. */
const vectors: [from: string, hash: string, password?: string][] = [
  // better-auth 1.7.25: two users of auth.api.signUpEmail(), on PostgreSQL, read by the query of docs/moving.md.
  [
    "Better Auth",
    "e5b1b9ead259337a31c0057cfa3b81b2:05bffcc262aea9f7bd838637e7c2f124507ecceaac53e8af12041f005a1e13a51b4a7e5a584a02eea4d96666cceb7f2d3a58083730f3d0d7b1950e2961b49426",
  ],
  [
    "Better Auth, which hashes the NFKC form",
    "1ef5461cd9babf3790ab7d71e991132f:ba1b52d93b71a7af4c0e7ccd0f0db1fd7cb3bfd10a3e46c942daaa9c57a47d628ad7f8cc6d3857baf5ffbcaf8e50f2749a7d796f0c5d88358f540ed4ad219c35",
    umlauts,
  ],
  // Django 3.2.25 (Debian's python3-django): make_password(password), and with salt="seasalt12345".
  ["Django", "pbkdf2_sha256$260000$w41wPPIYM7iyTjMd4hOsfR$U7Af7Z8xt7EykcxGT0s9O6vnXctyj/NbuQEpVYSSHxY="],
  [
    "Django, which hashes the text as typed",
    "pbkdf2_sha256$260000$seasalt12345$jgt9w6VPBGF/J2frybHSVSG/745/k1oAUygaMtJLp20=",
    "mu \u00b5, two \u00b2",
  ],
  // passlib 1.7.4 (Debian's python3-passlib): pbkdf2_sha256, pbkdf2_sha512 and scrypt, .hash() and .using(rounds=…).hash().
  ["passlib, SHA-256", "$pbkdf2-sha256$29000$K.U8JwTA2JsTgjAGIATAWA$UO.ZNGHpnZ61C2Zxqc6gAL8/uAlnyxYOf.hQxNXPGuk"],
  [
    "passlib, SHA-512",
    "$pbkdf2-sha512$25000$RyilNAYgpLQ2ptS615qTMg$EIr3XXZ9WpMuUovMrnye7oqIegXgm/efralhsdzNhgyhue789TpFV617A6ZJ4GFcFRKTtldH/2kC7xaYKS4jHA",
  ],
  ["passlib, scrypt", "$scrypt$ln=14,r=8,p=1$G8OYE+KcU6oVgjBGiHFO6Q$rGAO7y3ZtS+fvs4EJS15g81FsnieOSQ86nJ72RKv2tI"],
  [
    "passlib, scrypt with a small N",
    "$scrypt$ln=4,r=8,p=1$AWCMce59D4Gwdo7xXusdIw$sumlnqKcbVFXkMx4YVPpwXsB+OU4FHgD/Hwo7emGL3w",
  ],
  // The third vector of passlib again, in PHC form.
  [
    "PBKDF2 in PHC form",
    "$pbkdf2-sha256$i=29000,l=32$K+U8JwTA2JsTgjAGIATAWA$UO+ZNGHpnZ61C2Zxqc6gAL8/uAlnyxYOf+hQxNXPGuk",
  ],
];

test.each(vectors)(
  "a hash of another system is replaced by Argon2id at the first login: %s",
  async (_from, hash, password = goodPassword) => {
    expect(await importHash(hash)).toEqual({ created: 1, skipped: 0, uninvited: 0 });
    await expectReplacedAtLogin(latchkey, hash, password);
  },
);

const base64 = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
const salt = Buffer.alloc(16, 7);

const pbkdf2 = (digest: "sha256" | "sha512", count: number, password = goodPassword) => {
  const output = pbkdf2Sync(password, salt, count, digest === "sha256" ? 32 : 64, digest);
  return `$pbkdf2-${digest}$i=${count}$${base64(salt)}$${base64(output)}`;
};

const scrypt = (ln: number, password = goodPassword) =>
  `$scrypt$ln=${ln},r=8,p=1$${base64(salt)}$${base64(scryptSync(password, salt, 32, { N: 2 ** ln, r: 8 }))}`;

describe("a refused login does the same work for every address", () => {
  const everybody = ["low", "high", "sha512", "scrypt", "nobody"].map((name) => `${name}@example.com`).concat("none");

  beforeEach(async () => {
    await importHash(pbkdf2("sha256", 1_000), "low@example.com");
    await importHash(pbkdf2("sha256", 5_000), "high@example.com");
    await importHash(pbkdf2("sha512", 3_000), "sha512@example.com");
    await importHash(scrypt(10), "scrypt@example.com");
  });

  /** The iterations of PBKDF2 with each digest, and each N of scrypt. */
  async function workOf(address: string, password: string) {
    const [pbkdf2Calls, scryptCalls] = [spyOn("pbkdf2"), spyOn("scrypt")].map(({ mock }) => mock.calls as unknown[][]);
    const before = [pbkdf2Calls?.length, scryptCalls?.length];
    expect(await statusOf(password, address)).toBe(422);
    const iterations: Record<string, number> = {};
    for (const [, , count, , digest] of pbkdf2Calls?.slice(before[0]) ?? [])
      iterations[String(digest)] = (iterations[String(digest)] ?? 0) + Number(count);
    const scrypts = scryptCalls?.slice(before[1]).map(([, , , options]) => (options as { N: number }).N);
    return { iterations, scrypts };
  }

  test.each([
    ["a password", "wrong", 1],
    ["a password that NFKC changes", "wrong \u00b5", 2],
  ])("with both kinds of hashes: %s", async (_what, password, times) => {
    for (const address of everybody) {
      expect(await workOf(address, password), address).toEqual({
        iterations: { sha256: 5_000 * times, sha512: 3_000 * times },
        scrypts: Array(times).fill(1024),
      });
    }
  });

  test("with the kinds read by their index alone", async () => {
    const [read] = await statementsOf(() => statusOf("wrong")).then((all) =>
      all.filter(({ text }) => /kinds/.test(text)),
    );
    await latchkey.execute("set enable_seqscan = off");
    const plan = await latchkey.execute<object>(`explain ${read?.text.replace("$1", "''").replace("?", "''")}`);
    await latchkey.execute("set enable_seqscan = on");
    const text = JSON.stringify(plan);
    expect(text).toContain("users_password_kinds_index");
    expect(text).not.toContain("Seq Scan on users");
  });
});

test("the release before finds its index of kinds", async () => {
  const indexes = await latchkey.execute<{ indexname: string }>(
    "select indexname from pg_indexes where tablename = 'users'",
  );
  expect(indexes.map(({ indexname }) => indexname)).toEqual(
    expect.arrayContaining(["users_password_kind_index", "users_password_kinds_index"]),
  );
});

test("at most three hashes of another system are computed at a time", async () => {
  await importHash(scrypt(10));
  let running = 0;
  let most = 0;
  const original = crypto.scrypt;
  spyOn("scrypt").mockImplementation(((...call: unknown[]) => {
    most = Math.max(most, ++running);
    const done = call.pop() as (...results: unknown[]) => void;
    (original as (...all: unknown[]) => void)(...call, (...results: unknown[]) => {
      running--;
      done(...results);
    });
  }) as typeof crypto.scrypt);
  const refused = await Promise.all(Array.from({ length: 8 }, (_, n) => statusOf("wrong", `u${n}@example.com`)));
  expect(refused).toEqual(Array(8).fill(422));
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(3);
});

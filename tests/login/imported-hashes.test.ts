import argon2 from "@node-rs/argon2";
import bcrypt from "@node-rs/bcrypt";
import { Argon2id } from "oslo/password";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { logIn } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";
import { expectReplacedAtLogin, storedHash } from "../support/stored-hashes";

const latchkey = startLatchkey();

const email = "ada@example.com";

const statusOf = async (password: string, address = email) => (await logIn({ email: address, password })).status;

const addUser = (passwordHash: string, address = email) => latchkey.createUser({ email: address, passwordHash });

beforeEach(() => {
  vi.spyOn(argon2, "verify");
  vi.spyOn(bcrypt, "verify");
});

describe("a bcrypt hash of another system", () => {
  // OpenBSD's own test vectors, of John the Ripper's and crypt_blowfish's test suites.
  test.each([
    ["U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
    ["U*U*U", "$2y$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a"],
  ])("is replaced by Argon2id at the first login (%s: %s)", { tags: "11.2.2" }, async (password, hash) => {
    await addUser(hash);
    await expectReplacedAtLogin(latchkey, hash, password);
  });

  describe("of a password with thousands of combining marks", () => {
    const typed = `\u00b5${"\u0316\u0300".repeat(1_000)}`;

    beforeEach(async () => addUser(await bcrypt.hash(typed, 4)));

    test("matches that password alone", async () => {
      expect(await statusOf(`\u03bc${typed.slice(1)}`)).toBe(422);
      expect(await statusOf(typed)).toBe(302);
      expect(await statusOf(typed)).toBe(302);
    });

    test("is verified without normalisation of the password", async () => {
      const normalize = vi.spyOn(String.prototype, "normalize");
      expect(await statusOf(typed)).toBe(302);
      expect(await statusOf(typed)).toBe(302);
      expect(normalize.mock.contexts.filter((text) => String(text).length > 512)).toEqual([]);
    });
  });

  test.each([
    ["as typed", "mu \u00b5, two \u00b2", "mu \u00b5, two \u00b2"],
    ["in NFKC", "mu \u00b5, two \u00b2", "mu \u03bc, two 2"],
    ["in NFKC, of the most characters", "\u00b5".repeat(512), "\u03bc".repeat(512)],
  ])("may be of the password %s", async (_what, typed, hashed) => {
    await addUser(await bcrypt.hash(hashed, 4));
    expect(await statusOf(typed)).toBe(302);
    expect(await statusOf(typed)).toBe(302);
  });

  describe("of a longer password", () => {
    beforeEach(async () => addUser(await bcrypt.hash("x".repeat(80), 4)));

    test("is of its first 72 bytes", async () => {
      expect(await statusOf("x".repeat(71))).toBe(422);
      expect(await statusOf(`${"x".repeat(72)}tail`)).toBe(302);
    });

    test("is replaced by a hash of the whole password", async () => {
      expect(await statusOf(`${"x".repeat(72)}tail`)).toBe(302);
      expect(await statusOf("x".repeat(80))).toBe(422);
      expect(await statusOf(`${"x".repeat(72)}tail`)).toBe(302);
    });
  });

  test("matches no password with a NUL", async () => {
    await addUser(await bcrypt.hash("a password\0and more", 4));
    expect(await statusOf("a password\0and more")).toBe(422);
    expect(await statusOf("a password")).toBe(422);
  });
});

describe("a stronger Argon2id hash with parameters of two digits", () => {
  let strong: string;

  beforeEach(async () => {
    strong = await argon2.hash(goodPassword, { memoryCost: 19_456, timeCost: 10, parallelism: 12 });
    await addUser(strong);
  });

  test("is verified", async () => {
    expect(await statusOf("wrong")).toBe(422);
    expect(await statusOf(goodPassword)).toBe(302);
  });

  test("is kept by a login", async () => {
    await statusOf(goodPassword);
    expect(await storedHash(latchkey)).toBe(strong);
  });
});

test("an Argon2id hash of another system may be of the password as typed", async () => {
  const typed = "mu \u00b5, two \u00b2";
  await addUser(await argon2.hash(typed, { memoryCost: 8192, timeCost: 1, parallelism: 4 }));
  expect(await statusOf("mu \u00b5, two 3")).toBe(422);
  expect(await statusOf(typed)).toBe(302);
  expect(await storedHash(latchkey)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await statusOf(typed)).toBe(302);
});

describe("a refused login makes the same runs of bcrypt and Argon2id for every address", () => {
  const kindOf = (hash: string) => /^\$2[aby](\$\d\d)\$|^\$argon2id\$v=19\$([^$]+)/.exec(hash)?.slice(1).join("");
  const everybody = ["bcrypt", "argon2id", "provider", "nobody"].map((name) => `${name}@example.com`).concat("none");

  async function runsOf(address: string, password: string): Promise<string[]> {
    vi.clearAllMocks();
    const normalized = vi.spyOn(Argon2id.prototype, "verify");
    expect(await statusOf(password, address)).toBe(422);
    const runs = [
      ...normalized.mock.calls.map(([hash, typed]) => `oslo ${kindOf(hash)} ${typed}`),
      ...vi.mocked(argon2.verify).mock.calls.map(([hash, typed]) => `argon2id ${kindOf(String(hash))} ${typed}`),
      ...vi.mocked(bcrypt.verify).mock.calls.map(([typed, hash]) => `bcrypt ${kindOf(String(hash))} ${typed}`),
    ];
    normalized.mockRestore();
    return runs;
  }

  beforeEach(async () => {
    await latchkey.createUser({ email: "provider@example.com", password: null, idpId: "42" });
    await addUser(await bcrypt.hash(goodPassword, 5), "bcrypt@example.com");
  });

  test.each([
    ["a password", "wrong", ["wrong"]],
    ["a password that NFKC changes", "wrong \u00b5", ["wrong \u03bc", "wrong \u00b5"]],
    ["a password with a NUL", "wrong\0", ["wrong\0"]],
  ])("while both are stored: %s", async (_what, password, hashed) => {
    await latchkey.createUser({ email: "argon2id@example.com" });
    await addUser((await bcrypt.hash(goodPassword, 5)).replace(/^\$2.\$/, "$2a$"), "another@example.com");
    for (const address of everybody) {
      const runs = await runsOf(address, password);
      const runsOfKind = (kind: string) => runs.filter((run) => run.startsWith(kind));
      expect(runsOfKind("bcrypt"), address).toEqual(hashed.map((text) => `bcrypt $05 ${text}`));
      expect(runsOfKind("oslo"), address).toEqual([`oslo m=19456,t=2,p=1 ${password}`]);
    }
    const first = await runsOf("bcrypt@example.com", password);
    for (const address of everybody) expect(await runsOf(address, password), address).toEqual(first);
  });

  test("while only bcrypt is stored", async () => {
    for (const address of everybody) expect(await runsOf(address, "wrong"), address).toEqual(["bcrypt $05 wrong"]);
  });

  test("a decoy is read to its end as a hash is", async () => {
    await statusOf("wrong", "nobody@example.com");
    const [[, decoy = ""] = []] = vi.mocked(bcrypt.verify).mock.calls as [string, string][];
    expect(decoy).toMatch(/^\$2b\$05\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/);
  });
});

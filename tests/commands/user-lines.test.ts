import { expect, test } from "vitest";
import { parseUserLine } from "#server/features/operator/user-lines";

const salt = "LLzZnXxTbLrXwV4Hv2+KQQ";
const output = "ZGDccf3bZGRbg5oDRr5DfuQHVWPlyW0VP2reNNdEnWs";
const argon2id = (parameters: string) => `$argon2id$v=19$${parameters}$${salt}$${output}`;
const bcrypt = (start: string) => `${start}$1xcNf4YzKJBR8Bv5o18t8eC/bi9NiVV4QY5idONgkrgAXXQyJkVq.`;

const base64 = (bytes: number) => Buffer.alloc(bytes, 1).toString("base64").replace(/=+$/, "");
const sized = (saltBytes: number, outputBytes: number) =>
  `$argon2id$v=19$m=64,t=1,p=1$${base64(saltBytes)}$${base64(outputBytes)}`;

const scrypt = (parameters: string) => `$scrypt$${parameters}$${base64(16)}$${base64(32)}`;
const django = (iterations: number) => `pbkdf2_sha256$${iterations}$w41wPPIYM7iy$${base64(32)}=`;
const pbkdf2 = (digest: string, parameters: string, bytes: number) =>
  `$pbkdf2-sha${digest}$${parameters}$${base64(16)}$${base64(bytes)}`;

const parse = (line: unknown) => parseUserLine(typeof line === "string" ? line : JSON.stringify(line));

const email = "ada@example.com";
const userId = "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a";

test.each([
  ["an address", { email: " Ada@Example.COM " }, { email }],
  ["a name", { email, name: "  Ada L. " }, { email, name: "Ada L." }],
  [
    "null for what is absent",
    { id: null, email, name: null, passwordHash: null, idpId: null, idpIssuer: null, idpBlockedAt: null },
    undefined,
  ],
  ["the user's id", { id: "5F0C7A7E-3d9c-4d2b-9c1a-0f1e2d3c4b5a", email }, { id: userId, email }],
  ["Argon2id", { email, passwordHash: argon2id("m=19456,t=2,p=1") }, undefined],
  ["Argon2id with the most work", { email, passwordHash: argon2id("m=131072,t=4,p=16") }, undefined],
  ["Argon2id with the least memory", { email, passwordHash: argon2id("m=8,t=1,p=1") }, undefined],
  ["Argon2id with the shortest salt and hash", { email, passwordHash: sized(8, 16) }, undefined],
  ["Argon2id with the longest salt and hash", { email, passwordHash: sized(48, 64) }, undefined],
  ["bcrypt $2b$", { email, passwordHash: bcrypt("$2b$10") }, undefined],
  ["bcrypt $2y$", { email, passwordHash: bcrypt("$2y$13") }, undefined],
  ["scrypt in PHC form", { email, passwordHash: scrypt("ln=14,r=8,p=1") }, undefined],
  ["scrypt with the most memory and work", { email, passwordHash: scrypt("ln=17,r=8,p=2") }, undefined],
  ["Better Auth's scrypt", { email, passwordHash: `${"0a".repeat(16)}:${"9f".repeat(64)}` }, undefined],
  ["Django's PBKDF2 with the most iterations", { email, passwordHash: django(2_000_000) }, undefined],
  ["PBKDF2 with SHA-512 and the most iterations", { email, passwordHash: pbkdf2("512", "i=1000000", 64) }, undefined],
  ["PBKDF2 as passlib writes it", { email, passwordHash: pbkdf2("256", "29000", 32).replace("$AQ", "$.Q") }, undefined],
  ["PBKDF2 in PHC form, with its length", { email, passwordHash: pbkdf2("256", "i=600000,l=32", 32) }, undefined],
  ["an id", { email, idpId: "auth0|5f7" }, undefined],
  ["a number as the id", { email, idpId: 42 }, { email, idpId: "42" }],
  ["an id and its issuer", { email, idpId: "42", idpIssuer: "https://issuer.example/a?b" }, undefined],
  ["the time of disconnecting", { email, idpBlockedAt: "2026-02-28T23:59:59.999Z" }, undefined],
  ["the time of a suspension", { email, suspendedAt: "2026-02-28T23:59:59.999Z" }, undefined],
  ["groups", { email, groups: ["staff", "a.b-c_9", "staff"] }, { email, groups: ["a.b-c_9", "staff"] }],
  [
    "the time of disconnecting in seconds",
    { email, idpBlockedAt: "2026-02-28T23:59:59Z" },
    { email, idpBlockedAt: "2026-02-28T23:59:59.000Z" },
  ],
])("a line with %s is right", (_what, line, user) => {
  expect(parse(line)).toEqual({ user: user ?? line });
});

const notAHash = "passwordHash is not a hash that can be imported (docs/moving.md)";
const tooMuch = "passwordHash takes too much work: m is at most 131072, m times t 524288, p 16";
const tooMuchScrypt = "passwordHash takes too much work: 128·N·r is at most 131072 KiB, N·r·p 2097152";
const badId = "idpId is not text of 1 to 255 characters or a whole number";
const badTime = "idpBlockedAt is not a time in UTC such as 2026-01-31T23:59:59Z";
const badGroups = "groups is not a list of at most 32 groups";
const badName = "name is empty, longer than 100 characters, or not one line of plain text";

test.each([
  ["no JSON", "email=ada@example.com", "is not JSON"],
  ["null", null, "is not a JSON object"],
  ["nothing", {}, "email is missing"],
  ["a number as the address", { email: 1 }, "email is not text"],
  ["no address", { email: "ada" }, "email is not an email address"],
  ["unknown fields", { email, password: "x", role: "admin" }, 'has unknown fields: ["password","role"]'],
  ["an empty name", { email, name: " " }, badName],
  ["a name with a NUL", { email, name: "Ada\0" }, badName],
  ["a name that is too long", { email, name: "x".repeat(101) }, badName],
  ["no UUID as the user's id", { email, id: "42" }, "id is not a UUID"],
  ["an issuer without an id", { email, idpIssuer: "github" }, "idpIssuer has no idpId"],
  [
    "an issuer with a space",
    { email, idpId: "42", idpIssuer: "Git Hub" },
    "idpIssuer is neither an issuer nor a provider's name",
  ],
  ["an empty issuer", { email, idpId: "42", idpIssuer: "" }, "idpIssuer is neither an issuer nor a provider's name"],
  ["an empty id", { email, idpId: "" }, badId],
  ["an id of white space", { email, idpId: "  " }, badId],
  ["a fraction as the id", { email, idpId: 1.5 }, badId],
  ["a time without its zone", { email, idpBlockedAt: "2026-01-02T03:04:05" }, badTime],
  ["a word as the time of a suspension", { email, suspendedAt: "now" }, badTime.replace("idpBlockedAt", "suspendedAt")],
  ["a group in capitals", { email, groups: ["Staff"] }, badGroups],
  ["33 groups", { email, groups: Array.from({ length: 33 }, (_, at) => `g${at}`) }, badGroups],
  ["text as groups", { email, groups: "staff" }, badGroups],
  ["a day that does not exist", { email, idpBlockedAt: "2026-02-30T03:04:05Z" }, badTime],
  ["a time that no database has", { email, idpBlockedAt: "0000-01-01T00:00:00Z" }, badTime],
  [
    "unknown fields that are not printable",
    { email, "a\u009b2J\u202e": 1, "\u2028\u00a0\u{e0001} é": 2 },
    String.raw`has unknown fields: ["a\u009b2J\u202e","\u2028\u00a0\udb40\udc01 é"]`,
  ],
  ["several mistakes", { name: 1, idpId: true }, `email is missing, name is not text, ${badId}`],
  ["plain text as the hash", { email, passwordHash: "hunter22" }, notAHash],
  ["a number as the hash", { email, passwordHash: 1 }, "passwordHash is not text"],
  ["Argon2i", { email, passwordHash: argon2id("m=19456,t=2,p=1").replace("argon2id", "argon2i") }, notAHash],
  ["an older version of Argon2", { email, passwordHash: argon2id("m=19456,t=2,p=1").replace("19$", "16$") }, notAHash],
  ["Argon2id with other parameters", { email, passwordHash: argon2id("m=19456,t=2,p=1,keyid=AA") }, notAHash],
  ["a salt that is too short", { email, passwordHash: argon2id("m=64,t=1,p=1").replace(salt, "AAAAAAA") }, notAHash],
  ["padding after Argon2id", { email, passwordHash: `${argon2id("m=64,t=1,p=1")}=` }, notAHash],
  ["text after bcrypt", { email, passwordHash: `${bcrypt("$2b$10")}x` }, notAHash],
  ["a salt of 7 bytes", { email, passwordHash: sized(7, 16) }, notAHash],
  ["a salt of 49 bytes", { email, passwordHash: sized(49, 64) }, notAHash],
  ["a hash of 15 bytes", { email, passwordHash: sized(8, 15) }, notAHash],
  ["a hash of 65 bytes", { email, passwordHash: sized(48, 65) }, notAHash],
  [
    "a salt with unused bits set",
    { email, passwordHash: argon2id("m=64,t=1,p=1").replace(salt, `${salt.slice(0, -1)}R`) },
    notAHash,
  ],
  ["no memory", { email, passwordHash: argon2id("m=15,t=1,p=2") }, "passwordHash has less memory than its lanes need"],
  ["absurd memory", { email, passwordHash: argon2id("m=131073,t=1,p=1") }, tooMuch],
  ["absurd iterations", { email, passwordHash: argon2id("m=65536,t=9,p=1") }, tooMuch],
  ["absurd lanes", { email, passwordHash: argon2id("m=65536,t=1,p=17") }, tooMuch],
  ["scrypt with more memory", { email, passwordHash: scrypt("ln=18,r=8,p=1") }, tooMuchScrypt],
  ["scrypt with more work", { email, passwordHash: scrypt("ln=17,r=8,p=3") }, tooMuchScrypt],
  ["scrypt with a tiny N and a huge p", { email, passwordHash: scrypt("ln=1,r=1,p=1048576") }, notAHash],
  [
    "scrypt with an N that its r does not allow",
    { email, passwordHash: scrypt("ln=16,r=1,p=1") },
    "passwordHash has an N that is too large for its r",
  ],
  ["scrypt with its parameters in another order", { email, passwordHash: scrypt("r=8,ln=14,p=1") }, notAHash],
  ["an output of scrypt of 15 bytes", { email, passwordHash: scrypt("ln=14,r=8,p=1").slice(0, -23) }, notAHash],
  ["a salt of Better Auth of another length", { email, passwordHash: `0a:${"9f".repeat(64)}` }, notAHash],
  ["an output of Better Auth of another length", { email, passwordHash: `${"0a".repeat(16)}:9f` }, notAHash],
  [
    "Django's PBKDF2 with more iterations",
    { email, passwordHash: django(2_000_001) },
    "passwordHash takes too much work: at most 2000000 iterations",
  ],
  [
    "PBKDF2 with SHA-512 and more iterations",
    { email, passwordHash: pbkdf2("512", "i=1000001", 64) },
    "passwordHash takes too much work: at most 1000000 iterations",
  ],
  ["PBKDF2 with an output of two blocks", { email, passwordHash: pbkdf2("256", "i=27500", 64) }, notAHash],
  ["PBKDF2 with SHA-1", { email, passwordHash: pbkdf2("1", "i=27500", 32) }, notAHash],
  ["PBKDF2 without an iteration", { email, passwordHash: django(0) }, notAHash],
  ["bcrypt of cost 3", { email, passwordHash: bcrypt("$2b$03") }, "passwordHash has a cost outside 4 to 13"],
  ["bcrypt of cost 14", { email, passwordHash: bcrypt("$2b$14") }, "passwordHash has a cost outside 4 to 13"],
  ["bcrypt's faulty $2x$", { email, passwordHash: bcrypt("$2x$10") }, notAHash],
  ["bcrypt with unused bits set", { email, passwordHash: bcrypt("$2b$10").replace("8eC/", "8fC/") }, notAHash],
])("a line with %s is wrong", (_what, line, problem) => {
  expect(parse(line)).toEqual({ problem });
});

import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { act } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import { addPasskey, answerWith, ask, signInBy } from "../support/passkeys";
import { runs } from "../support/property-runs";

// The seed is new in every run; fast-check prints it with the counterexample when a property fails.
fc.configureGlobal({ verbose: fc.VerbosityLevel.Verbose });

const latchkey = startLatchkey();

const authenticator = new Authenticator();
let session: string;

beforeEach(async () => {
  session = await latchkey.signedIn();
  await addPasskey(authenticator, session);
});

type Answer = { [field: string]: unknown; response: Record<string, unknown> };

const anyText = fc.string({ unit: "binary", maxLength: 200 });
const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array).toString("base64url"));
const huge = fc.constantFrom("A".repeat(12_000), Buffer.alloc(3_000, 0x9f).toString("base64url"), "_".repeat(2_800));
const value = fc.oneof(bytes, anyText, huge, fc.anything(), fc.constantFrom(null, [], {}, "\u0000", "\ud800"));

/**
 * One byte of a base64url text is another one: what is parsed stays near to a right answer. Not of the lengths in a
 * signature's DER, which the library does not compare: its two numbers would stay right.
 */
const flipped = (name: string, text: string) =>
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([at, change]) => {
    const bytes = Buffer.from(text, "base64url");
    const place = bytes.length - 1 - (at % (name === "signature" ? 30 : bytes.length));
    bytes.writeUInt8((bytes[place] ?? 0) ^ change, place);
    return bytes.toString("base64url");
  });

/** Texts near to an authenticator's answer, or not. */
function malformed(answer: string): fc.Arbitrary<string> {
  const right: Answer = JSON.parse(answer);
  const parts = Object.keys(right.response).filter((name) => typeof right.response[name] === "string");
  const changed = fc.tuple(fc.constantFrom("id", "rawId", "type", "response", ...parts), value);
  const flips = fc
    .constantFrom(...parts)
    .chain((name) => fc.tuple(fc.constant(name), flipped(name, String(right.response[name]))));
  const json = fc.oneof(changed, flips).map(([name, other]) => {
    const isPart = name in right.response;
    return JSON.stringify({
      ...right,
      ...(isPart ? { response: { ...right.response, [name]: other } } : { [name]: other }),
    });
  });
  return fc.oneof({ weight: 6, arbitrary: json }, anyText, fc.json());
}

/** A ceremony whose challenge is put back each time, so that an answer with the right one reaches the verification. */
async function start(...asked: Parameters<typeof ask>) {
  const ceremony = await ask(...asked);
  const [stored] = await latchkey.execute<{ challenge_hash: string }>("select * from passkey_challenges");
  const insert = "insert into passkey_challenges values (?, now() + interval '5 minutes') on conflict do nothing";
  return { ...ceremony, putBack: () => latchkey.execute(insert, [stored?.challenge_hash]) };
}

/** An answer to a challenge that nobody asked: too rare a change to wait for. */
function toAnotherChallenge(right: string): string {
  const answer = JSON.parse(right);
  const data = JSON.parse(Buffer.from(answer.response.clientDataJSON, "base64url").toString());
  data.challenge = Buffer.alloc(32, 9).toString("base64url");
  answer.response.clientDataJSON = Buffer.from(JSON.stringify(data)).toString("base64url");
  return JSON.stringify(answer);
}

const reasons = () => [...new Set(latchkey.events().map(({ reason }) => reason))];

test("each malformed answer to sign in is refused", {
  timeout: 120_000,
}, async () => {
  const asked = await start("sign-in");
  const right = authenticator.get(asked.options);
  let client = 0;
  const refused = fc.asyncProperty(malformed(right), async (passkey) => {
    await asked.putBack();
    const facts = { client: `192.0.2.${client++ % 250}` };
    expect((await answerWith(passkey, { cookie: asked.cookie, facts })).status).toBe(422);
  });
  const id = Buffer.alloc(32, 7).toString("base64url"); // too rare a change to wait for
  const unknown = JSON.stringify({ ...JSON.parse(right), id, rawId: id });
  const options = {
    numRuns: runs(200),
    examples: [unknown, toAnotherChallenge(right)].map((text): [string] => [text]),
  };
  await latchkey.unchanged(() => fc.assert(refused, options), "rate_limits", "passkey_challenges");
  expect(reasons()).toEqual(expect.arrayContaining(["malformed", "challenge", "not_verified", "unknown"]));
});

test("no malformed answer to add a passkey is a 5xx", {
  timeout: 120_000,
}, async () => {
  const asked = await start("add", { cookie: session });
  const right = new Authenticator().create(asked.options);
  // Nothing signs what an attestation says of its authenticator, so an answer with another counter, say, is a right one.
  let refused = 0;
  const answered = fc.asyncProperty(malformed(right), async (passkey) => {
    await asked.putBack();
    const { status } = await act(asked.cookie, "add-passkey", { passkey });
    expect([200, 422]).toContain(status);
    refused += status === 422 ? 1 : 0;
  });
  await fc.assert(answered, { numRuns: runs(200), examples: [[toAnotherChallenge(right)]] });
  expect(refused).toBeGreaterThan(0.9 * runs(200));
  expect(reasons()).toEqual(expect.arrayContaining(["malformed", "challenge", "not_verified"]));
  expect(await signInBy(authenticator), "the passkey stays usable").toMatchObject({ status: 302 });
});

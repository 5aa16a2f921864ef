import fc from "fast-check";
import { beforeEach, expect, test } from "vitest";
import { act } from "../support/account-calls";
import { Authenticator } from "../support/authenticator";
import { startLatchkey } from "../support/latchkey";
import { addPasskey, answerWith, ask } from "../support/passkeys";

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

/** One byte of a base64url text is another one: what is parsed stays near to a right answer. */
const flipped = (text: string) =>
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([at, change]) => {
    const bytes = Buffer.from(text, "base64url");
    bytes.writeUInt8((bytes[at % bytes.length] ?? 0) ^ change, at % bytes.length);
    return bytes.toString("base64url");
  });

/** Texts near to an authenticator's answer, or not. */
function malformed(answer: string): fc.Arbitrary<string> {
  const right: Answer = JSON.parse(answer);
  const parts = Object.keys(right.response).filter((name) => typeof right.response[name] === "string");
  const withField = fc
    .tuple(fc.constantFrom(...Object.keys(right)), value)
    .map(([name, other]) => ({ ...right, [name]: other }));
  const withPart = fc
    .tuple(fc.constantFrom(...parts), value)
    .map(([name, other]) => ({ ...right, response: { ...right.response, [name]: other } }));
  const withFlip = fc
    .constantFrom(...parts)
    .chain((name) =>
      flipped(String(right.response[name])).map((other) => ({
        ...right,
        response: { ...right.response, [name]: other },
      })),
    );
  const json = fc.oneof(withField, withPart, withFlip).map((object) => JSON.stringify(object) ?? "");
  return fc.oneof({ weight: 6, arbitrary: json }, anyText, fc.json());
}

/** The challenge is put back each time, so that an answer with the right one reaches the verification. */
async function putBack(hash: string): Promise<void> {
  await latchkey.execute(
    "insert into passkey_challenges values (?, now() + interval '5 minutes') on conflict do nothing",
    [hash],
  );
}

const reasons = () => new Set(latchkey.events().map(({ reason }) => reason));

test.each(["sign-in", "add"] as const)(
  "5,000 malformed answers to %s are refused, and none is a 5xx",
  { timeout: 300_000 },
  async (purpose) => {
    const asked = await ask(purpose, { cookie: session });
    const [stored] = await latchkey.execute<{ challenge_hash: string }>("select * from passkey_challenges");
    const right = purpose === "add" ? new Authenticator().create(asked.options) : authenticator.get(asked.options);
    let client = 0;
    await latchkey.unchanged(
      () =>
        fc.assert(
          fc.asyncProperty(malformed(right), async (passkey) => {
            fc.pre(passkey !== right);
            await putBack(stored?.challenge_hash ?? "");
            const headers = { "latchkey-client": `192.0.2.${client++ % 250}` };
            const refused =
              purpose === "add"
                ? await act(asked.cookie, "add-passkey", { passkey })
                : await answerWith(passkey, { cookie: asked.cookie, headers });
            expect([422, 429]).toContain(refused.status);
          }),
          { numRuns: 5_000 },
        ),
      "rate_limits",
      "passkey_challenges",
    );
    for (const reason of ["malformed", "challenge", "not_verified"]) expect(reasons()).toContain(reason);
  },
);

import { expect, test } from "vitest";
import { storeProbe } from "#server/features/operator/probe";
import { callEndpoint } from "../support/endpoint-calls";
import { startLatchkey } from "../support/latchkey";
import { sha256 } from "../support/sha256";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey();

const ask = (secret?: string) => callEndpoint("/auth/probe", { headers: secret ? { "latchkey-probe": secret } : {} });

test("a stored secret shows once what the door saw", async () => {
  const secret = await storeProbe(latchkey.em());
  expect(await latchkey.execute("select secret_hash from probes")).toEqual([{ secret_hash: sha256(secret) }]);
  const answer = await ask(secret);
  expect(answer).toMatchObject({ status: 200, headers: { "Cache-Control": "no-store" } });
  expect(Object.keys(JSON.parse(String(answer?.body))).sort()).toEqual([
    "client",
    "clientForwarded",
    "hostForwarded",
    "origin",
  ]);
  expect(await ask(secret)).toBeNull();
});

test("a secret counts for 60 seconds", async () => {
  const secret = await storeProbe(latchkey.em());
  await latchkey.execute("update probes set expires_at = expires_at - interval '60 seconds'");
  expect(await ask(secret)).toBeNull();
});

test("an unknown secret is one statement, and anything else none", async () => {
  expect(await statementsOf(() => ask("A".repeat(43)))).toHaveLength(1);
  for (const secret of [undefined, "", "A".repeat(42), `${"A".repeat(42)}=`]) {
    expect(await statementsOf(async () => expect(await ask(secret)).toBeNull())).toEqual([]);
  }
});

import { beforeEach, expect, test } from "vitest";
import { askForReset } from "../support/account-calls";
import { startLatchkey } from "../support/latchkey";
import { recordOutgoingCalls } from "../support/outgoing-calls";
import { statementsOf } from "../support/statements";

const latchkey = startLatchkey({
  APP_URL: "https://latchkey.example",
  MAIL_FROM: "mail@latchkey.example",
  MAIL_DRIVER: "postmark",
  POSTMARK_SERVER_TOKEN: "token",
});
const outgoing = recordOutgoingCalls();
const email = "ada@example.com";
const api = "https://api.postmarkapp.com/email";

beforeEach(() => latchkey.createUser({ email }));

async function refuse(code: number): Promise<void> {
  outgoing.answer("POST", api, { status: 422, body: JSON.stringify({ ErrorCode: code, Message: "no" }) });
  await askForReset(email);
  await latchkey.drain();
}

const rows = () =>
  latchkey.execute("select e.type, e.detail, undeliverable_by from account_events e join users u on u.id = user_id");

test("a send that is refused for its recipient makes the address undeliverable", async () => {
  await refuse(406);
  expect(await rows()).toEqual([{ type: "mail.refused", detail: "password_reset", undeliverable_by: "mail.refused" }]);
});

test("a send that is refused for its message does not", async () => {
  await refuse(300);
  expect(await rows()).toEqual([{ type: "mail.refused", detail: "password_reset", undeliverable_by: null }]);
});

test("the job of an unknown address ends with the same statement", async () => {
  const endOf = async (address: string) => {
    await askForReset(address);
    const sent = await statementsOf(() => latchkey.drain());
    return sent.filter(({ text }) => text.includes("account_events")).map(({ text }) => text);
  };
  outgoing.answer("POST", api, { body: '{"ErrorCode":0}' });
  const known = await endOf(email);
  expect(known).toHaveLength(1);
  expect(await endOf("nobody@example.com")).toEqual(known);
});

test("the end of a mail's job and its entry in the history are one statement", async () => {
  outgoing.answer("POST", api, { body: '{"ErrorCode":0}' });
  await askForReset(email);
  const sent = await statementsOf(() => latchkey.drain());
  const ends = sent.filter(({ text }) => /account_events|delete from pgboss\.job/i.test(text));
  expect(ends).toHaveLength(1);
  expect(await latchkey.execute("select from pgboss.job")).toEqual([]);
});

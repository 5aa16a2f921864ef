import dns from "node:dns";
import nock from "nock";
import { Webhook } from "standardwebhooks";
import { beforeEach, expect, test, vi } from "vitest";
import { sendWebhook, type WebhookPayload } from "#server/features/application/webhooks";
import { configure } from "../support/configure";
import { type Answer, recordOutgoingCalls } from "../support/outgoing-calls";

const url = "https://app.example/webhooks?from=latchkey";
const secret = `whsec_${Buffer.alloc(24, "+/").toString("base64")}`;
const id = "0e1ac3a2-6a6d-4a0a-9a3b-7f8e9d0c1b2a";
const outgoing = recordOutgoingCalls();

const payload: WebhookPayload = {
  type: "user.email_changed",
  timestamp: "2026-11-24T20:00:00.123Z",
  data: {
    id: "5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a",
    email: "new@example.com",
    name: "Ada Lovelace ü",
    pictureUrl: "https://pictures.example/ada",
    groups: ["admins", "staff"],
    previousEmail: "old@example.com",
  },
};

const body =
  '{"type":"user.email_changed","timestamp":"2026-11-24T20:00:00.123Z","data":{"id":"5f0c7a7e-3d9c-4d2b-9c1a-0f1e2d3c4b5a","email":"new@example.com","name":"Ada Lovelace ü","pictureUrl":"https://pictures.example/ada","groups":["admins","staff"],"previousEmail":"old@example.com"}}';

const send = () => sendWebhook(id, payload);

beforeEach(() => {
  configure({ WEBHOOK_URL: url, WEBHOOK_SECRET: secret });
});

test("a webhook is one request within five seconds", async () => {
  outgoing.answer("POST", url, { status: 204 });
  await send();
  const [call] = outgoing.calls();
  const headers = {
    accept: "application/json",
    "content-type": "application/json",
    host: "app.example",
    "webhook-id": id,
    "webhook-timestamp": expect.stringMatching(/^\d{10}$/),
    "webhook-signature": expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
  };
  expect(outgoing.calls()).toEqual([{ method: "POST", url, headers, body }]);
  expect(Math.abs(Number(call?.headers["webhook-timestamp"]) - Date.now() / 1000)).toBeLessThan(60);
  expect(outgoing.deadlines()).toEqual([5000]);
});

test("the signature of a webhook is verified by the library", async () => {
  outgoing.answer("POST", url, { status: 204 });
  await send();
  const [call] = outgoing.calls();
  expect(new Webhook(secret).verify(call?.body ?? "", call?.headers as Record<string, string>)).toEqual(payload);
  const changed = `${call?.body} `;
  expect(() => new Webhook(secret).verify(changed, call?.headers as Record<string, string>)).toThrow("No matching");
});

test.each<[string, Answer]>([
  ["a page", { body: "<p>OK</p>" }],
  ["status 202 and an empty body", { status: 202 }],
])("accepted by %s", async (_what, answer) => {
  outgoing.answer("POST", url, answer);
  await send();
  expect(outgoing.addresses()).toEqual([`POST ${url}`]);
});

test.each<[string, Answer, object]>([
  ["status 400", { status: 400 }, { name: "CallError", reason: "status 400" }],
  ["status 410", { status: 410, body: "{}" }, { name: "CallError", reason: "status 410", status: 410 }],
  ["status 500", { status: 500 }, { name: "CallError", reason: "status 500" }],
  [
    "a redirect",
    { status: 307, headers: { location: "https://app.example/" } },
    { name: "CallError", reason: "redirect 307" },
  ],
  ["more than one mebibyte", { body: "a".repeat(1_048_577) }, { name: "CallError", reason: "too_large" }],
  ["nothing before the deadline", { stall: "before the headers" }, { name: "CallError", reason: "timeout" }],
  ["a broken connection", { broken: true }, { name: "CallError", reason: "unreachable" }],
])("a request that is answered by %s has failed", async (_what, answer, failure) => {
  outgoing.answer("POST", url, answer);
  await expect(send()).rejects.toMatchObject(failure);
  expect(outgoing.addresses()).toEqual([`POST ${url}`]);
});

test("a host name without an address is a failure with its code", async () => {
  const error = Object.assign(new Error("app.example"), { code: "ENOTFOUND" });
  vi.spyOn(dns as { lookup(...given: unknown[]): unknown }, "lookup").mockImplementation((...given) => {
    (given.at(-1) as (error: Error) => void)(error);
  });
  nock.enableNetConnect("app.example");
  await expect(send()).rejects.toMatchObject({ name: "CallError", reason: "unreachable", code: "ENOTFOUND" });
});

test.each(["https://10.0.0.5/in", "http://127.0.0.1:8000/in", "http://[::1]:8000/in", "http://localhost:8000/in"])(
  "an address that the setting names is called: %s",
  async (own) => {
    configure({ WEBHOOK_URL: own, WEBHOOK_SECRET: secret });
    outgoing.answer("POST", own, {});
    await send();
    expect(outgoing.addresses()).toEqual([`POST ${own}`]);
  },
);

import { readFileSync } from "node:fs";
import { beforeEach, describe, expect, test } from "vitest";
import { handleJob } from "#server/job-handlers";
import { act, askForReset, confirmAddress, logIn, resetWith } from "../support/account-calls";
import { google, signInWithGoogle } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";

const latchkey = startLatchkey(google);
const email = "ada@example.com";

const questions = readFileSync("docs/support.md", "utf8")
  .split(/^## /m)
  .slice(1)
  .map((section): [string, string[]] => {
    const [title = "", ...rest] = section.split("\n");
    const blocks = rest.join("\n").matchAll(/^```sh\n([\s\S]*?)^```$/gm);
    return [title, [...blocks].flatMap(([, block = ""]) => block.trim().split("\n"))];
  });

let userId: string;

beforeEach(async () => {
  userId = await latchkey.createUser({ email, idpId: "1", idpIssuer: "google" });
});

test("docs/support.md answers ten questions", () => {
  expect(questions).toHaveLength(10);
});

test.each(questions)("each command for %s does its work", async (_question, lines) => {
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    const [program, ...words] = line.split(" ");
    expect(program).toBe("latchkey");
    if (words[1] === "restore") await latchkey.execute("update users set suspended_at = now()");
    const finished = await latchkey.command(...words);
    expect([line, finished.status, finished.stderr]).toEqual([line, 0, ""]);
  }
});

test("the owner of an account with a changed address gets it back by `restore` and `reset-link`", async () => {
  const changed = "thief@example.org";
  await latchkey.execute("update users set email = ?, suspended_at = now()", [changed]);
  await latchkey.command("user", "restore", changed);
  const { stdout: link } = await latchkey.command("user", "reset-link", changed);
  const token = new URL(link.trim()).searchParams.get("token") ?? "";
  await resetWith({ email: changed, token }, goodPassword);
  const { session } = (await logIn({ email: changed })).cookies;
  await act(`session=${session}`, "change-email", { email });
  await latchkey.drain();
  const mail = latchkey.mails().find(({ to, subject }) => to === email && subject === "Confirm your new email address");
  const confirmation = new URL(/\S+token=\S+/.exec(mail?.text ?? "")?.[0] ?? "").searchParams;
  await confirmAddress({ email, token: confirmation.get("token") ?? "" }, { cookie: `session=${session}` });
  expect(await latchkey.execute("select id, email from users")).toEqual([{ id: userId, email }]);
});

/** The lines of `user show` whose label is `Kept out` or `Event`. */
async function shown(label: string) {
  const { stdout } = await latchkey.command("user", "show", email);
  return stdout.split("\n").filter((line) => line.trim().startsWith(`${label}:`));
}

describe("`user show` says what keeps the owner out", () => {
  test("nothing of an account with a way in", async () => {
    expect(await shown("Kept out")).toEqual([]);
  });

  test.each([
    ["a suspension", "suspended_at = '2026-11-20T10:00Z'", "The account has been suspended since 2026-11-20T10:00Z."],
    [
      "no way in",
      "password_hash = null, idp_id = null",
      "There is no way in: no password, no provider and no passkey.",
    ],
    [
      "mails that bounce",
      "undeliverable_at = '2026-03-01T10:00Z', undeliverable_by = 'mail.bounced'",
      "Mails to this address bounce since 2026-03-01T10:00Z.",
    ],
    [
      "mails that are refused",
      "undeliverable_at = '2026-03-01T10:00Z', undeliverable_by = 'mail.refused'",
      "The mail service refuses this address since 2026-03-01T10:00Z.",
    ],
  ])("%s", async (_what, columns, sentence) => {
    await latchkey.execute(`update users set ${columns}`);
    expect(await shown("Kept out")).toEqual([`Kept out:            ${sentence}`]);
  });

  test("the limit of logins", async () => {
    for (let n = 0; n < 10; n++) await logIn({ password: "wrong" });
    expect((await shown("Kept out")).join()).toMatch(
      / Logins are limited until 20\S+:\d\dZ \(in 15 minutes\), except on known browsers\.$/,
    );
  });

  test("the limit of reset mails", async () => {
    for (let n = 0; n < 6; n++) await askForReset(email);
    expect((await shown("Kept out")).join()).toMatch(/Reset mails are limited until 20\S+:\d\dZ \(in 15 minutes\)\.$/);
  });
});

describe("`user show` ends with the events", () => {
  test("the last twenty of them", async () => {
    await latchkey.execute(
      `insert into account_events (user_id, at, type, actor)
       select ?, now() - n * interval '1 s', 'password.changed', 'owner' from generate_series(1, 30) n`,
      [userId],
    );
    expect(await shown("Event")).toHaveLength(20);
    const json = JSON.parse((await latchkey.command("user", "show", email, "--json")).stdout);
    expect(json.events).toHaveLength(30);
  });

  test("as far as they are known", async () => {
    await signInWithGoogle({ sub: "1" });
    const enqueued = { id: crypto.randomUUID(), at: new Date() };
    const call = await handleJob({ task: "mail_passkey_added", email, language: "en" }, enqueued);
    await call?.();
    const [mail, signIn] = await shown("Event");
    expect(mail).toMatch(/Event: {13}20\S+Z, mail\.sent, passkey_added$/);
    expect(signIn).toMatch(/Event: {13}20\S+Z, session\.started, provider, by the owner$/);
  });
});

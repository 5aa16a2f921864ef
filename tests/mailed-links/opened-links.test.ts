import { beforeEach, describe, expect, test } from "vitest";
import * as changeEmail from "~/routes/account.email";
import * as complete from "~/routes/register_.complete";
import * as reset from "~/routes/reset-password";
import { askForReset } from "../support/account-calls";
import { google } from "../support/google-sign-in";
import { startLatchkey } from "../support/latchkey";
import { emailChangeLink, registrationLink, resetLink } from "../support/mailed-links";
import { call, get } from "../support/route-calls";

const latchkey = startLatchkey(google);

const kinds = [
  {
    path: "/reset-password",
    loader: reset.loader,
    table: "password_resets",
    newLink: async () => {
      await latchkey.createUser({ email: "ada+tag@example.com" });
      return resetLink(latchkey, "ada+tag@example.com");
    },
  },
  {
    path: "/register/complete",
    loader: complete.loader,
    table: "registrations",
    newLink: () => registrationLink(latchkey, "ada+tag@example.com"),
  },
  {
    path: "/account/email",
    loader: changeEmail.loader,
    table: "email_changes",
    newLink: async () => emailChangeLink(latchkey, await latchkey.signedIn(), "ada+tag@example.com"),
  },
];

describe.each(kinds)("the page that a link to $path opens", ({ path, loader, table, newLink }) => {
  const open = (query: string) => latchkey.unchanged(() => call(loader, get(`${path}?${query}`)));
  const opened = async (query: string) => (await open(query)).data;

  test.each([
    ["has expired", `update ${table} set expires_at = now() - interval '1 second'`],
    ["was used", `delete from ${table}`],
  ])("says that a link %s", async (_what, statement) => {
    const link = await newLink();
    await latchkey.execute(statement);
    const page = await open(`${new URLSearchParams(link)}`);
    expect(page).toMatchObject({ status: 200, data: { ...link, problem: "dead" } });
    expect(latchkey.events().filter(({ event }) => event.endsWith("refused"))).toEqual([]);
  });

  test("says that a link without a token or an address is not whole", async () => {
    const half = ["email=ada%40example.com", `token=${"a".repeat(64)}`];
    for (const query of ["", ...half, "email=&token=", "email=a@b.c&token=%3E"]) {
      expect(await opened(query), query).toMatchObject({ problem: "incomplete" });
    }
  });

  const address = "email=ada%2Btag%40example.com";

  test.each<[string, (token: string) => string]>([
    ["as it was mailed", (token) => `${address}&token=${token}`],
    ["with &amp; for &", (token) => `${address}&amp;token=${token}`],
    ["with =3D for =", (token) => `email=3Dada%2Btag%40example.com&token=3D${token}`],
    ["with a bare + in the address", (token) => `email=ada+tag@example.com&token=${token}`],
    ...[".", ",", ">", ")", "%20", "%0D%0A", "%C2%A0", ">.", "%22"].map((end): [string, (token: string) => string] => [
      `with ${end} after the token`,
      (token) => `${address}&token=${token}${end}`,
    ]),
    ["with < before the token", (token) => `${address}&token=%3C${token}`],
    [
      "with a soft line break within the token",
      (token) => `${address}&token=${token.slice(0, 20)}=%0A${token.slice(20)}`,
    ],
    [
      "with spaces around the address",
      (token) => `email=%20ada%2Btag%40example.com%0A&token=${token.slice(0, 9)}%20${token.slice(9)}`,
    ],
  ])("gives its form the right values for a link %s", async (_how, queryOf) => {
    const link = await newLink();
    expect(await open(queryOf(link.token))).toMatchObject({ status: 200, data: { ...link, problem: null } });
  });

  test("takes no other spelling of a token for the token", async () => {
    const { email, token } = await newLink();
    for (const other of [token.toUpperCase(), `${token}0`, token.slice(1), `3d${token}`]) {
      expect(await opened(`${new URLSearchParams({ email, token: other })}`), other).toMatchObject({ problem: "dead" });
    }
  });
});

describe("the reset mail", () => {
  const mail = async () => {
    await askForReset("ada@example.com");
    await latchkey.drain();
    return latchkey.mails().at(-1)!.text;
  };

  beforeEach(() => latchkey.createUser());

  test.each([
    ["has none", null, null],
    ["has one that the service no longer uses", "1001", "github"],
  ])("names no provider where the account %s", async (_what, id, issuer) => {
    await latchkey.execute("update users set idp_id = ?, idp_issuer = ?", [id, issuer]);
    expect(await mail()).not.toContain("without a password");
  });

  test("names the provider as another way in where the account has it", async () => {
    await latchkey.execute("update users set idp_id = '1001', idp_issuer = 'google'");
    expect(await mail()).toContain("You can also sign in with Google, without a password.");
  });
});

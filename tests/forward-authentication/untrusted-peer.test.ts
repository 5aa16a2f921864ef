import { beforeAll, describe, expect, test } from "vitest";
import { configure } from "../support/configure";
import { sendPlainly } from "../support/http";
import { serveVerification } from "../support/verification";

const user = { id: "1", email: "ada@example.com", name: null, groups: [], signedInAt: new Date() };
const port = serveVerification({
  findUser: async (_token, audience) => ({ ...user, token: `for ${audience()}` }),
  findProgram: async () => null,
});

beforeAll(() => void configure({ TRUST_PROXY: "192.0.2.0/24", RETURN_ORIGINS: "https://app.example" }));

const forwarded = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "app.example",
  "X-Forwarded-Uri": "/notes?page=2",
  Accept: "text/html,application/xhtml+xml,*/*;q=0.8",
};

const own = () => `http://localhost:${port()}`;

/** The status of the answer, and the headers that depend on what the proxy is believed. */
async function verify(sent: Record<string, string>) {
  const { status, headers } = await sendPlainly(own(), "/auth/verify", { headers: { ...forwarded, ...sent } });
  return [status, ...["Location", "WWW-Authenticate", "Remote-User", "Remote-Token"].map((name) => headers.get(name))];
}

const refused = [401, null, 'Cookie realm="Latchkey"', null, null];

describe("from a peer that TRUST_PROXY does not name X-Forwarded-*", () => {
  test("cause no redirect", async () => {
    expect(await verify({})).toEqual(refused);
  });

  test("do not change the audience of the identity token", async () => {
    expect(await verify({ Cookie: "session=token" })).toEqual([200, null, null, "1", `for ${own()}`]);
  });

  test("admit no cookie of https", async () => {
    expect(await verify({ Cookie: "__Host-session=token" })).toEqual(refused);
  });
});

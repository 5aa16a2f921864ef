import { beforeEach, describe, expect, test } from "vitest";
import * as authorize from "~/routes/auth.idp._index";
import * as callback from "~/routes/auth.idp_.callback";
import * as language from "~/routes/language";
import * as login from "~/routes/login";
import { startLatchkey } from "../support/latchkey";
import { goodPassword } from "../support/passwords";
import { call, get, post } from "../support/route-calls";

const latchkey = startLatchkey({ IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });
const https = { facts: { origin: "https://localhost:3000" } };

describe("on https", () => {
  let lines: string[];

  beforeEach(async () => {
    await latchkey.createUser();
    const credentials = { email: "ada@example.com", password: goodPassword };
    const answers = [
      await call(authorize.loader, get("/auth/idp", https)),
      await call(callback.loader, get("/auth/idp/callback?state=another", https)),
      await call(login.action, post("/login", credentials, https)),
      await call(language.action, post("/language", { language: "de" }, https)),
    ];
    lines = answers.flatMap(({ headers }) => headers.getSetCookie());
  });

  test("every cookie is secure", { tags: "3.3.1" }, () => {
    expect(lines.filter((line) => !line.includes("; Secure"))).toEqual([]);
  });

  test("only cookies of an external sign-in or of the last way in lack the prefix", {
    tags: ["3.3.1", "3.3.3"],
  }, () => {
    const names = lines.map((line) => line.split("=", 1).join());
    const expected = ["__Host-session", "__Host-device", "__Host-language", "idp_failure"];
    expect(names).toEqual(expect.arrayContaining(expected));
    const withoutPrefix = names.filter((name) => !/^__(?:Host|Secure)-/.test(name));
    expect(withoutPrefix.filter((name) => !/^(?:oauth_\w+|idp_failure|last_sign_in)$/.test(name))).toEqual([]);
  });
});

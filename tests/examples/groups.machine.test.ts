import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { sendPlainly } from "../support/http";
import { Visitor } from "../support/visitor";
import { type Example, forStaff, onOneHost, type ProxyName, register, startExample } from "./example";

const path = "/notes?page=2&tag=a%26b";
const navigation = { Accept: "text/html", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document" };
const ofScript = { Accept: "text/html", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty" };

describe.each<ProxyName>(["nginx", "caddy"])("an application for the group staff behind %s", (proxy) => {
  const [guest, member] = ["guest@example.com", "member@example.com"];
  let example: Example;

  beforeAll(async () => {
    const { configuration, ...others } = await onOneHost(proxy);
    const changed = forStaff(configuration);
    expect(changed).not.toBe(configuration);
    example = await startExample({ ...others, configuration: changed });
  });

  afterAll(() => example.stop());

  const at = (page: string) => `${example.url}${page}?${new URLSearchParams({ return_to: example.url + path })}`;

  describe("of who is in another group", () => {
    let visitor: Visitor;

    beforeAll(async () => {
      visitor = await register(example, guest);
      await example.command("user", "groups", guest, "--add", "guests");
    });

    test("leads a navigation to /no-access", async () => {
      expect(await visitor.get(path, navigation)).toMatchObject({ status: 302, location: at("/no-access") });
    });

    test("shows who is signed in at /no-access", async () => {
      const page = await visitor.get(at("/no-access").slice(example.url.length));
      expect(page.status).toBe(200);
      expect(page.body).toContain(guest);
    });

    test("answers a script 403", async () => {
      expect(await visitor.get(path, ofScript)).toMatchObject({ status: 403, location: null });
    });

    test("answers a form 403", async () => {
      expect(await visitor.post("/notes", { note: "x" }, navigation)).toMatchObject({ status: 403, location: null });
    });
  });

  test("leads a navigation of who is not signed in to the login page", async () => {
    expect(await sendPlainly(example.url, path, { headers: navigation })).toMatchObject({
      status: 302,
      location: at("/login"),
    });
  });

  test("answers a script of who is not signed in 401", async () => {
    expect((await sendPlainly(example.url, path, { headers: ofScript })).status).toBe(401);
  });

  test("admits a member of the longest groups", async () => {
    await register(example, member);
    const longest = Array.from({ length: 31 }, (_, i) => String(i).padStart(2, "0").padEnd(64, "x"));
    const groups = ["staff", ...longest].flatMap((name) => ["--add", name]);
    expect(await example.command("user", "groups", member, ...groups)).toMatchObject({ status: 0 });
    const visitor = new Visitor(example.url, undefined, sendPlainly);
    await visitor.logIn(member);
    const { status, body } = await visitor.get(path, navigation);
    expect(status).toBe(200);
    expect(body).toContain(`<dt>Groups<dd>${longest.join()},staff<dt>Verified<dd>yes`);
    expect(body).not.toContain(guest);
  });
});

test.each<[ProxyName, string]>([
  ["nginx", "groups=staff"],
  ["nginx", "?group=staff"],
  ["caddy", "groups=staff"],
])("%s with the mistyped query %s admits nobody", async (proxy, mistyped) => {
  const { configuration, ...others } = await onOneHost(proxy);
  const changed = forStaff(configuration).replaceAll("group=staff", mistyped);
  const example = await startExample({ ...others, configuration: changed });
  onTestFinished(() => example.stop());
  const visitor = await register(example, "member@example.com");
  const { status, body } = await visitor.get(path, navigation);
  expect(status).toBe(proxy === "nginx" ? 500 : 400); // auth_request knows 401 and 403 alone
  expect(body).not.toContain("member@example.com");
});

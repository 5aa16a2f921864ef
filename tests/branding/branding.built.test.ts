import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Answer } from "../support/http";
import { runLatchkey } from "../support/running-latchkey";

const logo = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><path d="M0 0h8v8z"/></svg>`;
const folder = await mkdtemp(join(tmpdir(), "latchkey-brand-"));
await writeFile(join(folder, "logo.svg"), logo);
afterAll(() => rm(folder, { recursive: true }));

const name = `Tom & Jerry's "Cheese"`;
const latchkey = runLatchkey({
  BRAND_NAME: name,
  BRAND_LOGO: join(folder, "logo.svg"),
  BRAND_COLOR: "#FFCC00",
  TERMS_URL: "https://cheese.example/terms?a=1&b=2",
  PRIVACY_URL: "http://127.0.0.1:8080/privacy",
  SUPPORT_EMAIL: "help+us@cheese.example",
  APP_URL: "https://login.cheese.example",
});

const attribute = (body: string, pattern: RegExp) => pattern.exec(body)?.[1] ?? "";

describe.each(["/login", "/nowhere", "/register", "/reset-password"])("the page %s", (path) => {
  let body: string;

  beforeAll(async () => {
    body = (await latchkey.send(path)).body;
  });

  test("shows the brand's name in its title", () => {
    expect(body).toMatch(/<title>(?:[^<]* · )?Tom &amp; Jerry&#x27;s &quot;Cheese&quot;<\/title>/);
  });

  test("shows the brand's logo beside its name", () => {
    expect(body).toMatch(
      /<a href="\/" class="logo"><img src="\/__files\/logo-[0-9a-f]{16}\.svg" alt=""\/>Tom &amp; Jerry/,
    );
  });

  test.each([
    '<a href="https://cheese.example/terms?a=1&amp;b=2">Terms</a>',
    '<a href="http://127.0.0.1:8080/privacy">Privacy</a>',
    '<a href="mailto:help%2Bus@cheese.example">Help</a>',
  ])("has the link %s", (link) => {
    expect(body).toContain(link);
  });

  test("does not name Latchkey", () => {
    expect(body).not.toContain("Latchkey");
  });
});

describe("the file of the logo", () => {
  let answer: Answer;

  beforeAll(async () => {
    const { body } = await latchkey.send("/login");
    answer = await latchkey.send(attribute(body, /<img src="([^"]+)"/));
  });

  test("is served under its hash", { tags: ["1.3.4", "3.2.1"] }, () => {
    expect(answer.status).toBe(200);
    expect(answer.body).toBe(logo);
    expect(answer.contentType).toBe("image/svg+xml");
  });

  test("may be kept for ever", () => {
    expect(answer.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  });

  test("can neither run nor load anything", { tags: ["1.3.4", "3.2.1"] }, () => {
    const policy = answer.headers.get("Content-Security-Policy");
    expect(policy).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
    expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
  });
});

test("no other file is served beside the logo", async () => {
  expect((await latchkey.send("/__files/..%2f..%2fpackage.json")).status).toBe(404);
});

describe("the stylesheet of the colours", () => {
  let page: Answer;
  let answer: Answer;

  beforeAll(async () => {
    page = await latchkey.send("/login");
    answer = await latchkey.send(attribute(page.body, /<link rel="stylesheet" href="(\/__files\/[^"]+)"/));
  });

  test("is one of this origin", () => {
    expect(page.headers.get("Content-Security-Policy")).toContain("style-src 'self';");
    expect(answer.contentType).toBe("text/css; charset=utf-8");
  });

  test("may be kept for ever", () => {
    expect(answer.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  });

  test("has readable colours for both themes", () => {
    const [light = "", dark = ""] = answer.body.split("@media (prefers-color-scheme:dark)");
    for (const theme of [light, dark]) {
      expect(theme).toContain("--pico-primary-background:#ffcc00;");
      expect(theme).toContain("--pico-primary-inverse:#000000}");
    }
    expect(light).not.toContain("--pico-primary:#ffcc00;");
    expect(dark).toContain("--pico-primary:#ffcc00;");
  });
});

describe("the reset mail", () => {
  let from: string | undefined;
  let before: string;
  let footer: string | undefined;

  beforeAll(async () => {
    const email = "grace@example.com";
    await latchkey.register(email);
    await latchkey.resetLink(email);
    const mail = await latchkey.mailTo(email, "Reset your password");
    from = mail.from;
    [before = "", footer] = mail.text.split("\n\n-- \n");
  });

  test("comes from the brand", () => {
    expect(from).toBe(`${name} <latchkey@localhost>`);
    expect(before.endsWith(`\n\nThis mail was sent by ${name}.`)).toBe(true);
  });

  test("keeps its fixed text", () => {
    expect(before).toMatch(
      /^Reset your password:\n\nhttps:\/\/login\.cheese\.example\/reset-password\?email=grace%40example\.com&token=[0-9a-f]{64}\n\nThis link expires in 60 minutes\.\n\n/,
    );
  });

  test("has the brand's links in its footer", () => {
    expect(footer?.trimEnd()).toBe(
      "Help: help+us@cheese.example\nTerms: https://cheese.example/terms?a=1&b=2\nPrivacy: http://127.0.0.1:8080/privacy",
    );
  });
});

const noindex = '<meta name="robots" content="noindex"/>';

describe.each([
  ["/login", "Log in to your"],
  ["/register", "Create an account with"],
  ["/forgot-password", "Choose a new password for your"],
])("search engines", (path, description) => {
  test(`may list ${path}`, async () => {
    expect((await latchkey.send(path)).body).not.toContain(noindex);
  });

  test(`find a description of ${path}`, async () => {
    const { body } = await latchkey.send(path);
    expect(body).toContain(`<meta name="description" content="${description} Tom &amp; Jerry`);
  });

  test(`may not list ${path} with a query`, async () => {
    expect((await latchkey.send(`${path}?email=ada%40example.com`)).body).toContain(noindex);
  });
});

test("search engines may not list the other pages", async () => {
  const visitor = await latchkey.register("listed@example.com");
  const paths = ["/reset-password", "/register/complete", "/account-deleted", "/nowhere", "/logout", "/dashboard"];
  for (const path of paths) expect((await visitor.get(path)).body, path).toContain(noindex);
});

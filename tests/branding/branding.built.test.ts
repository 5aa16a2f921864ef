import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
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

test("pages show the brand's name, logo, colours and links, and error pages do too", async () => {
  for (const path of ["/login", "/nowhere", "/register", "/reset-password"]) {
    const { body } = await latchkey.send(path);
    expect(body).toMatch(/<title>(?:[^<]* · )?Tom &amp; Jerry&#x27;s &quot;Cheese&quot;<\/title>/);
    expect(body).toMatch(
      /<a href="\/" class="logo"><img src="\/__files\/logo-[0-9a-f]{16}\.svg" alt=""\/>Tom &amp; Jerry/,
    );
    expect(body).toContain('<a href="https://cheese.example/terms?a=1&amp;b=2">Terms</a>');
    expect(body).toContain('<a href="http://127.0.0.1:8080/privacy">Privacy</a>');
    expect(body).toContain('<a href="mailto:help%2Bus@cheese.example">Help</a>');
    expect(body).not.toContain("Latchkey");
  }
});

test("the logo is served for ever under its hash, and can run and load nothing", {
  tags: ["1.3.4", "3.2.1"],
}, async () => {
  const { body } = await latchkey.send("/login");
  const path = attribute(body, /<img src="([^"]+)"/);
  const answer = await latchkey.send(path);
  expect(answer.status).toBe(200);
  expect(answer.body).toBe(logo);
  expect(answer.contentType).toBe("image/svg+xml");
  expect(answer.headers.get("Content-Security-Policy")).toBe("default-src 'none'; style-src 'unsafe-inline'; sandbox");
  expect(answer.headers.get("X-Content-Type-Options")).toBe("nosniff");
  expect(answer.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  expect((await latchkey.send("/__files/..%2f..%2fpackage.json")).status).toBe(404);
});

test("the colours are a stylesheet of our own", async () => {
  const { body, headers } = await latchkey.send("/login");
  expect(headers.get("Content-Security-Policy")).toContain("style-src 'self';");
  const answer = await latchkey.send(attribute(body, /<link rel="stylesheet" href="(\/__files\/[^"]+)"/));
  expect(answer.contentType).toBe("text/css; charset=utf-8");
  expect(answer.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
  const [light = "", dark = ""] = answer.body.split("@media (prefers-color-scheme:dark)");
  for (const theme of [light, dark]) {
    expect(theme).toContain("--pico-primary-background:#ffcc00;");
    expect(theme).toContain("--pico-primary-inverse:#000000}");
  }
  expect(light).not.toContain("--pico-primary:#ffcc00;");
  expect(dark).toContain("--pico-primary:#ffcc00;");
});

test("mails have the brand's name, colour and links; the fixed parts of the reset mail stay", async () => {
  const email = "grace@example.com";
  await latchkey.register(email);
  await latchkey.resetLink(email);
  const { from, text } = await latchkey.mailTo(email, "Reset your password");
  expect(from).toBe(`${name} <latchkey@localhost>`);
  const [before = "", footer] = text.split("\n\n-- \n");
  expect(before).toMatch(
    /^Reset your password:\n\nhttps:\/\/login\.cheese\.example\/reset-password\?email=grace%40example\.com&token=[0-9a-f]{64}\n\nThis link expires in 60 minutes\.\n\n/,
  );
  expect(before.endsWith(`\n\nThis mail was sent by ${name}.`)).toBe(true);
  expect(footer?.trimEnd()).toBe(
    "Help: help+us@cheese.example\nTerms: https://cheese.example/terms?a=1&b=2\nPrivacy: http://127.0.0.1:8080/privacy",
  );
});

const noindex = '<meta name="robots" content="noindex"/>';

test.each([
  ["/login", "Log in to your account with"],
  ["/register", "Create an account with"],
  ["/forgot-password", "Choose a new password for your account with"],
])("search engines may list %s, which has a description, but not with a query", async (path, description) => {
  const { body } = await latchkey.send(path);
  expect(body).toContain(`<meta name="description" content="${description} Tom &amp; Jerry`);
  expect(body).not.toContain(noindex);
  expect((await latchkey.send(`${path}?email=ada%40example.com`)).body).toContain(noindex);
});

test("search engines may not list the other pages", async () => {
  const visitor = await latchkey.register("listed@example.com");
  const paths = ["/reset-password", "/register/complete", "/account-deleted", "/nowhere", "/logout", "/dashboard"];
  for (const path of paths) expect((await visitor.get(path)).body, path).toContain(noindex);
});

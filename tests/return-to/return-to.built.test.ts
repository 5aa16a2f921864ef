import fc from "fast-check";
import { expect, test } from "vitest";
import { bypasses, targets } from "../support/open-redirects";
import { goodPassword } from "../support/passwords";
import { runs } from "../support/property-runs";
import { runLatchkey } from "../support/running-latchkey";
import type { Visitor } from "../support/visitor";

const latchkey = runLatchkey({
  APP_URL: "https://login.shop.example",
  SESSION_DOMAIN: "shop.example",
  RETURN_ORIGINS: "https://app.example,https://*.shop.example",
  IDP_CLIENT_ID: "id",
  IDP_CLIENT_SECRET: "secret",
});

const own = "https://login.shop.example";
const provider = "https://accounts.google.com";
const https = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "login.shop.example" };
const allowed = /^(?:https:\/\/app\.example|https:\/\/(?:[a-z0-9_-]+\.)+shop\.example)$/;

const characters: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#x27;": "'" };
const decoded = (html: string) => html.replace(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => characters[entity] ?? "");

const linksOf = (html: string) =>
  [...html.matchAll(/\s(?:href|action|formaction|src|content)="([^"]*)"/g)].map(([, url = ""]) => decoded(url));

function expectOwn(link: string, page: string): void {
  const url = new URL(link, `${own}${page}`);
  expect(url.origin, link).toBe(own);
  for (const target of url.searchParams.getAll("return_to")) expectAllowed(target);
}

function expectAllowed(target: string): void {
  expect(target).toMatch(/^(?:\/(?![/\\])|https:\/\/)[!-~]*$/);
  expect(new URL(target, own).origin).toMatch(allowed);
}

/** The texts as a query holds them: encoded, and as they are where a request line may have them. */
const queriesOf = (text: string) => {
  const raw = text.replace(/[^!-~]/g, "").replace(/#/g, "");
  return new Set([new URLSearchParams({ return_to: text }).toString(), `return_to=${raw}`]);
};

const tried = { accepted: 0, refused: 0 };

async function check(text: string, user: Visitor): Promise<void> {
  for (const query of queriesOf(text)) {
    for (const path of ["/login", "/register", "/register/complete"]) {
      const page = `${path}?${query}`;
      const { status, body, headers } = await latchkey.visit().get(page, https);
      expect(status, page).toBe(200);
      expect(linksOf(body).length).toBeGreaterThan(5);
      for (const link of linksOf(body).filter((url) => /^[/h.]|:/.test(url))) {
        if (!/^(?:width=|#)/.test(link)) expectOwn(link, page);
      }
      const policy = /form-action ([^;]+)/.exec(headers.get("Content-Security-Policy") ?? "")?.[1] ?? "";
      const [self, target, ...more] = policy.split(" ");
      expect([self, more]).toEqual(["'self'", []]);
      if (target !== undefined) expect(target).toMatch(allowed);
    }
    for (const path of ["/login", "/register"]) {
      const { status, location } = await user.get(`${path}?${query}`, https);
      expect(status).toBe(302);
      expectAllowed(location ?? "");
      tried[location === "/dashboard" ? "refused" : "accepted"]++;
    }
    const { status, location, setCookies } = await latchkey.visit().get(`/auth/idp?${query}`, https);
    expect([status, new URL(location ?? "").origin]).toEqual([302, provider]);
    const kept = /^oauth_attempt_\w+=1\.([\w-]*)\.;/.exec(setCookies.at(-1) ?? "")?.[1];
    expect(kept).toBeDefined();
    if (kept) expectAllowed(Buffer.from(kept, "base64url").toString());
  }
}

test("no return_to leads to another origin", async () => {
  const user = latchkey.visit();
  await latchkey.register("ada@example.com");
  const form = { email: "ada@example.com", password: goodPassword };
  const done = await user.post("/login", form, { ...https, Origin: own });
  expect(done).toMatchObject({ status: 302, location: "/dashboard" });
  for (const [, text] of bypasses(own)) await check(text, user);
  await fc.assert(
    fc.asyncProperty(targets, (text) => check(text, user)),
    { numRuns: runs(3) },
  );
  expect(tried.accepted).toBeGreaterThan(5);
  expect(tried.refused).toBeGreaterThan(50);
}, 300_000);

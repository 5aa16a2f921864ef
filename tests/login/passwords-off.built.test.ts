import { expect, test } from "vitest";
import { twice } from "../support/passwords";
import { runLatchkey } from "../support/running-latchkey";
import { Visitor } from "../support/visitor";

const latchkey = runLatchkey({ PASSWORDS: "off", IDP_CLIENT_ID: "id", IDP_CLIENT_SECRET: "secret" });

const link = { email: "ada@example.com", token: "ab".repeat(32) };
const pages: [path: string, form: Record<string, string>, posted: number][] = [
  ["/register", { email: link.email }, 200],
  ["/forgot-password", { email: link.email }, 200],
  [`/reset-password?${new URLSearchParams(link)}`, { ...link, ...twice("a brand new password") }, 422],
  [`/register/complete?${new URLSearchParams(link)}`, { ...link, ...twice("a brand new password") }, 422],
];

test.each(pages)("GET and POST of %s say that accounts come from the provider", async (path, form, posted) => {
  const visitor = new Visitor(latchkey.url());
  const answers = [await visitor.get(path), await visitor.post(path, form)];
  expect(answers.map(({ status }) => status)).toEqual([200, posted]);
  for (const { body } of answers) {
    const [main = ""] = /<main.*<\/main>/s.exec(body) ?? [];
    expect(main).toContain("Accounts come from Google, and you sign in with it.");
    expect(main).not.toMatch(/<form|<input/);
    expect(main.match(/href="[^"]*"/g)).toEqual(['href="/login"']);
    expect(body).toContain("<title>No passwords here · Latchkey</title>");
  }
});

import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { postmarkAnswer, resendAnswer } from "#server/mail/http-mailer";
import { tokenResponse } from "#server/provider/client";
import { providerMetadata } from "#server/provider/discovery";
import { claims, discordUser, githubEmails, githubUser } from "#server/provider/providers";

const sso = "https://sso.example";
const endpoints = { authorization_endpoint: `${sso}/authorize`, token_endpoint: sso, userinfo_endpoint: `${sso}/me` };

describe.each<[string, z.ZodType, Record<string, unknown>]>([
  ["token response", tokenResponse, { access_token: "a", token_type: "Bearer" }],
  ["provider metadata", providerMetadata, { issuer: sso, ...endpoints }],
  ["claims", claims, { sub: "1", email: "a@b.example", email_verified: true, name: "A", picture: "https://b.example" }],
  ["GitHub user", githubUser, { id: "1", login: "a", name: "A", avatar_url: "https://b.example" }],
  [
    "Discord user",
    discordUser,
    { id: "1", username: "a", global_name: "A", avatar: "a_1", email: "a@b", verified: true },
  ],
  ["Resend's answer", resendAnswer, { id: "1" }],
  ["Postmark's answer", postmarkAnswer, { ErrorCode: 0 }],
])("of a %s", (_what, shape, answer) => {
  test("the documented fields are parsed", { tags: ["1.5.2", "15.3.5"] }, () => {
    expect(shape.parse({ ...answer, not_documented: {} })).toEqual(answer);
  });

  test.each(Object.keys(answer))("%s is no object", { tags: ["1.5.2", "15.3.5"] }, (field) => {
    const parsed = shape.safeParse({ ...answer, [field]: { toString: answer[field] } });
    expect(parsed.success ? Object(parsed.data)[field] : null).toBeOneOf([null, false]);
  });
});

test("GitHub's emails are parsed entry by entry", () => {
  const entry = { email: "a@b.example", primary: true, verified: true };
  const none = { email: null, primary: false, verified: false };
  const wrong = { email: {}, primary: {}, verified: {} };
  expect(githubEmails.parse([{ ...entry, visibility: "private" }, wrong, 1])).toEqual([entry, none, none]);
  expect(githubEmails.safeParse({ 0: entry }).success).toBe(false);
});

import { expect, expectTypeOf, test } from "vitest";
import type { z } from "zod";
import {
  type AuthorizationRequest,
  type TokenRequest,
  type TokenResponse,
  tokenResponse,
} from "#server/identity-provider/client";
import { type ProviderMetadata, providerMetadata } from "#server/identity-provider/discovery";
import {
  type Claims,
  claims,
  type DiscordUser,
  discordUser,
  type GithubEmails,
  type GithubUser,
  githubEmails,
  githubUser,
  type Profile,
} from "#server/identity-provider/providers";
import { type PostmarkAnswer, type PostmarkEmail, postmarkAnswer } from "#server/mail/postmark-mailer";
import { type ResendAnswer, type ResendEmail, resendAnswer } from "#server/mail/resend-mailer";

test("what is sent to a provider has the types of RFC 6749", () => {
  expectTypeOf<AuthorizationRequest>().toEqualTypeOf<{
    client_id: string;
    redirect_uri: string;
    response_type: "code";
    scope: string;
    state: string;
    code_challenge?: string;
    code_challenge_method?: "S256";
  }>();
  expectTypeOf<TokenRequest>().toEqualTypeOf<{
    code: string;
    client_id: string;
    client_secret: string;
    redirect_uri: string;
    grant_type: "authorization_code";
    code_verifier?: string;
  }>();
});

test("a provider's answers have the types that they are parsed to", () => {
  expectTypeOf<TokenResponse>().toEqualTypeOf<{
    access_token: string;
    token_type?: string | undefined;
    error?: undefined;
  }>();
  expectTypeOf<ProviderMetadata>().toEqualTypeOf<{
    issuer: string;
    authorization_endpoint: string;
    token_endpoint: string;
    userinfo_endpoint: string;
    authorization_response_iss_parameter_supported?: boolean | undefined;
  }>();
  expectTypeOf<Claims>().toEqualTypeOf<{
    sub: string;
    email: string | null;
    email_verified: boolean;
    name: string | null;
    picture: string | null;
  }>();
  expectTypeOf<GithubUser>().toEqualTypeOf<{
    id: string;
    login: string | null;
    name: string | null;
    avatar_url: string | null;
  }>();
  expectTypeOf<GithubEmails>().toEqualTypeOf<{ email: string | null; primary: boolean; verified: boolean }[]>();
  expectTypeOf<DiscordUser>().toEqualTypeOf<{
    id: string;
    username: string | null;
    global_name: string | null;
    avatar: string | null;
    email: string | null;
    verified: boolean;
  }>();
  expectTypeOf<Profile>().toEqualTypeOf<{
    id: string;
    email: string | null;
    emailVerified: boolean;
    name: string | null;
    pictureUrl: string | null;
  }>();
});

test("the mail services' requests and answers have their documented types", () => {
  expectTypeOf<ResendEmail>().toEqualTypeOf<{
    from: string;
    to: [string];
    subject: string;
    text: string;
    html: string;
  }>();
  expectTypeOf<ResendAnswer>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<PostmarkEmail>().toEqualTypeOf<{
    From: string;
    To: string;
    Subject: string;
    TextBody: string;
    HtmlBody: string;
    MessageStream: "outbound";
    TrackOpens: false;
    TrackLinks: "None";
  }>();
  expectTypeOf<PostmarkAnswer>().toEqualTypeOf<{ ErrorCode: 0 }>();
});

test.each<[string, z.ZodType, Record<string, unknown>]>([
  ["token response", tokenResponse, { access_token: "a", token_type: "Bearer" }],
  [
    "provider metadata",
    providerMetadata,
    {
      issuer: "https://sso.example",
      authorization_endpoint: "https://sso.example/authorize",
      token_endpoint: "https://sso.example/token",
      userinfo_endpoint: "https://sso.example/me",
    },
  ],
  ["claims", claims, { sub: "1", email: "a@b.example", email_verified: true, name: "A", picture: "https://b.example" }],
  ["GitHub user", githubUser, { id: "1", login: "a", name: "A", avatar_url: "https://b.example" }],
  [
    "Discord user",
    discordUser,
    { id: "1", username: "a", global_name: "A", avatar: "a_1", email: "a@b.example", verified: true },
  ],
  ["Resend's answer", resendAnswer, { id: "1" }],
  ["Postmark's answer", postmarkAnswer, { ErrorCode: 0 }],
])("a %s is parsed field by field; no object passes for a string", (_what, shape, answer) => {
  expect(shape.parse({ ...answer, not_documented: {} })).toEqual(answer);
  for (const field of Object.keys(answer)) {
    const parsed = shape.safeParse({ ...answer, [field]: { toString: answer[field] } });
    expect(parsed.success ? Object(parsed.data)[field] : null).toBeOneOf([null, false]);
  }
});

test("GitHub's emails are parsed entry by entry", () => {
  const entry = { email: "a@b.example", primary: true, verified: true };
  expect(
    githubEmails.parse([{ ...entry, visibility: "private" }, { email: {}, primary: {}, verified: {} }, 1]),
  ).toEqual([
    entry,
    { email: null, primary: false, verified: false },
    { email: null, primary: false, verified: false },
  ]);
  expect(githubEmails.safeParse({ 0: entry }).success).toBe(false);
});

import { expectTypeOf, test } from "vitest";
import type { WebhookDetails } from "#server/events/events";
import type { WebhookPayload } from "#server/features/application/webhooks";
import type { PostmarkAnswer, PostmarkEmail } from "#server/mail-services/postmark";
import type { ResendAnswer, ResendEmail } from "#server/mail-services/resend";
import type { AuthorizationRequest, TokenRequest, TokenResponse } from "#server/provider/client";
import type { ProviderMetadata } from "#server/provider/discovery";
import type { Profile } from "#server/provider/providers";
import type { ChangedUser } from "#server/queue/jobs";

test("the requests to a provider have the types of RFC 6749", () => {
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
    jwks_uri?: string | undefined;
    end_session_endpoint?: string | undefined;
    authorization_response_iss_parameter_supported?: boolean | undefined;
  }>();
  expectTypeOf<Profile>().toEqualTypeOf<{
    id: string;
    email: string | null;
    emailVerified: boolean;
    name: string | null;
    pictureUrl: string | null;
    groups?: string[];
  }>();
});

test("Resend's mails have their documented types", () => {
  expectTypeOf<ResendEmail>().toEqualTypeOf<{
    from: string;
    to: [string];
    subject: string;
    text: string;
    html: string;
    reply_to?: string;
    headers: Record<string, string>;
  }>();
  expectTypeOf<ResendAnswer>().toEqualTypeOf<{ id: string }>();
});

test("Postmark's mails have their documented types", () => {
  expectTypeOf<PostmarkEmail>().toEqualTypeOf<{
    From: string;
    To: string;
    ReplyTo?: string;
    Subject: string;
    TextBody: string;
    HtmlBody: string;
    Headers: { Name: string; Value: string }[];
    MessageStream: "outbound";
    TrackOpens: false;
    TrackLinks: "None";
  }>();
  expectTypeOf<PostmarkAnswer>().toEqualTypeOf<{ ErrorCode: 0 }>();
});

test("a webhook's user has the types of /auth/session", () => {
  const user = { id: "", email: "", name: null as string | null, pictureUrl: null as string | null, groups: [""] };
  expectTypeOf<ChangedUser>().toEqualTypeOf(user);
  expectTypeOf<WebhookDetails["previousEmail"]>().toEqualTypeOf<string | undefined>();
});

test("a webhook's body has the types of Standard Webhooks 1.0", () => {
  expectTypeOf<WebhookPayload>().toEqualTypeOf<
    | {
        type:
          | "user.created"
          | "user.email_changed"
          | "user.name_changed"
          | "user.provider_linked"
          | "user.provider_unlinked"
          | "user.password_changed"
          | "user.groups_changed"
          | "user.suspended"
          | "user.restored"
          | "user.deleted"
          | "session.ended";
        timestamp: string;
        data: ChangedUser & WebhookDetails;
      }
    | { type: "latchkey.test"; timestamp: string; data: Record<string, never> }
  >();
});

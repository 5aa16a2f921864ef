/** What the login page says after a redirect. */
export type LoginNoticeKey =
  | "email_changed"
  | "idp_failed"
  | "invited"
  | "passkey_set"
  | "password_reset"
  | "sign_in_again"
  | "signed_out";

/** What the account page says after a redirect. */
export type AccountNoticeKey =
  | "another_account"
  | "email_changed"
  | "idp_connected"
  | "idp_disconnected"
  | "idp_failed"
  | "passkey_removed"
  | "password_changed"
  | "password_removed"
  | "registered"
  | "sessions_ended";

export const loginWith = (notice: LoginNoticeKey) => `/login?notice=${notice}`;

export const accountWith = (notice: AccountNoticeKey) => `/dashboard?notice=${notice}`;

export const noticeOf = (request: Request): string | null => new URL(request.url).searchParams.get("notice");

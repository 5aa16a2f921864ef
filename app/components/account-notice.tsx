import { Notice } from "./notice";

/** Says how an attempt to connect the provider ended. */
export function AccountNotice({ notice, provider }: { notice: string | null; provider: string }) {
  if (notice === "idp_connected") return <Notice role="status">You can now sign in with {provider}.</Notice>;
  if (notice !== "idp_failed") return null;
  return <Notice role="alert">Signing in with {provider} did not work. Nothing was changed.</Notice>;
}

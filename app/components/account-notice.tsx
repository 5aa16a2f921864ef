import { useTexts } from "~/page/language";
import { Notice } from "./notice";

/** Says how an attempt to connect the provider ended. */
export function AccountNotice({ notice, provider }: { notice: string | null; provider: string }) {
  const t = useTexts();
  if (notice === "idp_connected") return <Notice role="status">{t("account.connected", { provider })}</Notice>;
  if (notice !== "idp_failed") return null;
  return <Notice role="alert">{t("account.connectFailed", { provider })}</Notice>;
}

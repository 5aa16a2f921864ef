import { useTexts } from "~/page/language";
import { withReturnTo } from "~/request/return-to";
import { ProviderMark } from "./provider-mark";

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider, returnTo }: { provider: string | null; returnTo: string | null }) {
  const t = useTexts();
  return (
    <>
      <p className="or">{t("common.or")}</p>
      <p>
        <a href={withReturnTo("/auth/idp", returnTo)} className="button quiet">
          <ProviderMark provider={provider} />
          {t("common.continueWith", { provider: provider ?? "" })}
        </a>
      </p>
    </>
  );
}

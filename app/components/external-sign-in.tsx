import { useTexts } from "~/language";

/** A plain link, because `form-action 'self'` blocks a form that is redirected to the provider. */
export function ExternalSignIn({ provider }: { provider: string | null }) {
  const t = useTexts();
  return (
    <>
      <p className="or">{t("common.or")}</p>
      <p>
        <a href="/auth/idp" className="button quiet">
          {t("common.continueWith", { provider: provider ?? "" })}
        </a>
      </p>
    </>
  );
}

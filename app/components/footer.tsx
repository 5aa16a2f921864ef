import { useLocation } from "@remix-run/react";
import { languages } from "#server/languages/languages";
import { usePage } from "~/document/page-context";
import { mailto } from "./page";

/** The brand's links, and each language by its own name. With a plain form, the browser loads the whole page again. */
export function Footer() {
  const { t, language, brand } = usePage();
  const { termsUrl, privacyUrl, supportEmail } = brand;
  const { pathname, search } = useLocation();
  const page = pathname.startsWith("//") ? "/" : pathname + search; // a redirect to `//…` is refused
  return (
    <footer>
      {(termsUrl || privacyUrl || supportEmail) && (
        <p className="links">
          {termsUrl && <a href={termsUrl}>{t("common.terms")}</a>}
          {privacyUrl && <a href={privacyUrl}>{t("common.privacy")}</a>}
          {supportEmail && <a href={mailto(supportEmail)}>{t("common.help")}</a>}
        </p>
      )}
      <form method="post" action="/language" aria-label={t("common.language")} className="languages">
        <input type="hidden" name="page" value={page} />
        {Object.entries(languages).map(([tag, { name, direction }]) => (
          <button
            key={tag}
            type="submit"
            name="language"
            value={tag}
            lang={tag}
            dir={direction}
            aria-current={tag === language || undefined}
          >
            {name}
          </button>
        ))}
      </form>
    </footer>
  );
}

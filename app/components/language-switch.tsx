import { useLocation } from "@remix-run/react";
import { languages } from "#server/languages/languages";
import { BrandLinks } from "~/page/brand";
import { useDocumentLanguage, useTexts } from "~/page/language";

/** Offers each language by its own name. A plain form, so that the whole page is loaded again. */
export function LanguageSwitch() {
  const t = useTexts();
  const { lang } = useDocumentLanguage();
  const { pathname, search } = useLocation();
  const page = pathname.startsWith("//") ? "/" : pathname + search; // no redirect leads to the former
  return (
    <footer>
      <BrandLinks />
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
            aria-current={tag === lang || undefined}
          >
            {name}
          </button>
        ))}
      </form>
    </footer>
  );
}

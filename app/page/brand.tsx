import { useTexts } from "./language";
import { usePage } from "./page-context";

export const useBrand = () => usePage().brand;

/** The icon of the page, and the stylesheet with the brand's colours. */
export function BrandHead() {
  const { logo, colors } = useBrand();
  return (
    <>
      {logo ? <link rel="icon" href={logo} /> : <link rel="icon" href="/favicon.svg" type="image/svg+xml" />}
      {colors && <link rel="stylesheet" href={colors} />}
    </>
  );
}

const mailto = (address: string) => `mailto:${encodeURIComponent(address).replace("%40", "@")}`;

/** The links of the page's footer. */
export function BrandLinks() {
  const t = useTexts();
  const { termsUrl, privacyUrl, supportEmail } = useBrand();
  if (!termsUrl && !privacyUrl && !supportEmail) return null;
  return (
    <p className="links">
      {termsUrl && <a href={termsUrl}>{t("common.terms")}</a>}
      {privacyUrl && <a href={privacyUrl}>{t("common.privacy")}</a>}
      {supportEmail && <a href={mailto(supportEmail)}>{t("common.help")}</a>}
    </p>
  );
}

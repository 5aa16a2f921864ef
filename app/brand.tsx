import { createContext, useContext } from "react";
import type { PageBrand } from "#server/features/branding.server";
import { useTexts } from "./language";
import { useNonce } from "./nonce";

/** What a page shows of the brand. In a context, because the error pages have no loader's data. */
const BrandContext = createContext<PageBrand>({
  name: "Latchkey",
  logo: null,
  colors: null,
  termsUrl: null,
  privacyUrl: null,
  supportEmail: null,
});

export const BrandProvider = BrandContext.Provider;

export const useBrand = () => useContext(BrandContext);

const brandId = "brand";

/** The brand of the page that the server sent. */
export const brandOfDocument = (): PageBrand => JSON.parse(document.getElementById(brandId)?.textContent ?? "");

/** The brand, for hydration. */
export function BrandForBrowser() {
  const nonce = useNonce();
  const json = JSON.stringify(useBrand()).replaceAll("<", "\\u003c");
  // biome-ignore lint/security/noDangerouslySetInnerHtml: JSON of the settings, in which `<` is escaped
  return <script id={brandId} nonce={nonce} type="application/json" dangerouslySetInnerHTML={{ __html: json }} />;
}

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

import { RemixBrowser } from "@remix-run/react";
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { BrandProvider, brandOfDocument } from "./brand";
import { LanguageProvider, languageOfDocument } from "./language";

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <LanguageProvider value={languageOfDocument()}>
        <BrandProvider value={brandOfDocument()}>
          <RemixBrowser />
        </BrandProvider>
      </LanguageProvider>
    </StrictMode>,
  );
});

import { RemixBrowser } from "@remix-run/react";
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { PageProvider, pageOfDocument } from "./page-context";

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <PageProvider value={pageOfDocument()}>
        <RemixBrowser />
      </PageProvider>
    </StrictMode>,
  );
});

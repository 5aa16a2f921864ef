import { RemixBrowser } from "@remix-run/react";
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { PageProvider, pageOfDocument } from "./document/page-context";

const content = await pageOfDocument();

startTransition(() => {
  hydrateRoot(
    document,
    <StrictMode>
      <PageProvider content={content}>
        <RemixBrowser />
      </PageProvider>
    </StrictMode>,
  );
});

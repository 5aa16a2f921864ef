import { RemixBrowser } from "@remix-run/react";
import { StrictMode, startTransition } from "react";
import { hydrateRoot } from "react-dom/client";
import { PageProvider, pageOfDocument } from "./document/page-context";

const [content] = await Promise.all([pageOfDocument(), loaderDataDecoded()]);

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

/**
 * Remix decodes the loaders' data in the first render of RemixBrowser, which suspends by throwing the promise. A click
 * before that render ends makes React hydrate synchronously; if the render suspends, React gives up with its error 345.
 */
async function loaderDataDecoded(): Promise<void> {
  try {
    RemixBrowser({});
  } catch (decoding) {
    await decoding;
  }
}

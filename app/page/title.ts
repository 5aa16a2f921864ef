import { useLocation, useMatches } from "@remix-run/react";
import { errorTitle } from "~/components/error-page";
import type { PageText, PlainPageText } from "./language";
import { usePage } from "./page-context";

interface Search {
  description?: Extract<PageText, `${string}.description`>;
  /** Whether search engines may list the page. */
  listed?: boolean;
}

/** What a route's `handle` says of its page: which text is its title, and what search engines may know. */
export const titled = (title: PlainPageText, { description, listed = false }: Search = {}) => ({
  title,
  description,
  listed,
});

/**
 * The document's title, and what search engines may know: only what the page's route says, and without a query, which
 * holds an address, a token or a notice. Every other page is personal, is reached by a mailed link, or is an error.
 */
export function useHead(errorStatus: number | null) {
  const { t, brand } = usePage();
  const { search } = useLocation();
  const handles = useMatches().map(({ handle }) => handle as ReturnType<typeof titled> | undefined);
  const handle = handles.find(Boolean);
  if (errorStatus !== null) return { title: `${t(errorTitle(errorStatus))} · ${brand.name}`, listed: false };
  if (!handle) return { title: brand.name, listed: false };
  const { title, description, listed } = handle;
  return {
    title: `${t(title)} · ${brand.name}`,
    description: description && t(description, { brand: brand.name }),
    listed: listed && search === "",
  };
}

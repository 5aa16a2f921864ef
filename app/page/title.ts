import { useLocation, useMatches } from "@remix-run/react";
import { errorTitle } from "~/components/error-page";
import { useBrand } from "./brand";
import { type PageText, type PlainPageText, useTexts } from "./language";

type Description = Extract<PageText, `${string}.description`>;

interface Search {
  description?: Description;
  /** Whether search engines may list the page. */
  listed?: boolean;
}

/** What a route's `handle` says of its page: which text is its title, and what search engines may know. */
export const titled = (title: PlainPageText, { description, listed = false }: Search = {}) => ({
  title,
  description,
  listed,
});

/** The `handle` of the page's route. */
function useHandle(): ReturnType<typeof titled> | undefined {
  return useMatches().find(({ handle }) => handle)?.handle as ReturnType<typeof titled> | undefined;
}

/** The document's title: the error's, or the one that the page's route names. */
export function useDocumentTitle(errorStatus: number | null): string {
  const t = useTexts();
  const { name } = useBrand();
  const handle = useHandle();
  const key = errorStatus === null ? handle?.title : errorTitle(errorStatus);
  return key === undefined ? name : `${t(key)} · ${name}`;
}

/**
 * The description of the page, if its route names one, and whether search engines may list it. They may only where its
 * route says so, and without a query, which holds an address, a token or a notice. Every other page is personal, is
 * reached by a mailed link, or is an error.
 */
export function useSearchListing(errorStatus: number | null): { description: string | null; listed: boolean } {
  const t = useTexts();
  const { name } = useBrand();
  const { search } = useLocation();
  const handle = useHandle();
  if (errorStatus !== null || !handle) return { description: null, listed: false };
  const description = handle.description ? t(handle.description, { brand: name }) : null;
  return { description, listed: handle.listed && search === "" };
}

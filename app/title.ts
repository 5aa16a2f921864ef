import { useLocation, useMatches } from "@remix-run/react";
import { useBrand } from "./brand";
import { errorTitle } from "./components/error-page";
import { type PageText, type PlainPageText, useTexts } from "./language";

type Description = Extract<PageText, `${string}.description`>;

/**
 * Says in a route's `handle` which text is the title of its page, which one describes it, and whether search engines may
 * list it: a page with a description they may, unless it is "unlisted".
 */
export const titled = (title: PlainPageText, description?: Description, listing: "listed" | "unlisted" = "listed") => ({
  title,
  description,
  listing,
});

type Handle = Partial<ReturnType<typeof titled>> | undefined;

/** The document's title: the error's, or the one that the page's route names. */
export function useDocumentTitle(errorStatus: number | null): string {
  const t = useTexts();
  const { name } = useBrand();
  const [title] = useMatches().flatMap(({ handle }) => (handle as Handle)?.title ?? []);
  const key = errorStatus === null ? title : errorTitle(errorStatus);
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
  const handle = useMatches().find(({ handle }) => (handle as Handle)?.description)?.handle as Handle;
  if (errorStatus !== null || !handle?.description) return { description: null, listed: false };
  const description = t(handle.description, { brand: name });
  return { description, listed: handle.listing === "listed" && search === "" };
}

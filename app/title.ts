import { useLocation, useMatches } from "@remix-run/react";
import { useBrand } from "./brand";
import { errorTitle } from "./components/error-page";
import { type PageText, type PlainPageText, useTexts } from "./language";

type Description = Extract<PageText, `${string}.description`>;

/**
 * Says in a route's `handle` which text is the title of its page, and, where search engines may list it, which one
 * describes it.
 */
export const titled = (title: PlainPageText, description?: Description) => ({ title, description });

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
 * The description for search engines; `null` where they must not list the page. They may only where its route says so,
 * and without a query, which holds an address, a token or a notice. Every other page is personal, is reached by a mailed
 * link, or is an error.
 */
export function useDescription(errorStatus: number | null): string | null {
  const t = useTexts();
  const { name } = useBrand();
  const { search } = useLocation();
  const [description] = useMatches().flatMap(({ handle }) => (handle as Handle)?.description ?? []);
  if (errorStatus !== null || description === undefined || search !== "") return null;
  return t(description, { brand: name });
}

import { useMatches } from "@remix-run/react";
import { brand } from "./brand";
import { errorTitle } from "./components/error-page";
import { type PlainPageText, useTexts } from "./language";

/** Says in a route's `handle` which text is the title of its page. */
export const titled = (title: PlainPageText) => ({ title });

/** The document's title: the error's, or the one that the page's route names. */
export function useDocumentTitle(errorStatus: number | null): string {
  const t = useTexts();
  const [title] = useMatches().flatMap(
    ({ handle }) => (handle as Partial<ReturnType<typeof titled>> | undefined)?.title ?? [],
  );
  const key = errorStatus === null ? title : errorTitle(errorStatus);
  return key === undefined ? brand : `${t(key)} · ${brand}`;
}

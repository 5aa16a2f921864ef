import { useLocation, useMatches } from "@remix-run/react";
import { useBrand } from "./brand";
import { type PageText, useTexts } from "./language";

type DescriptionText = Extract<PageText, `${string}.description`>;

/** Says in a route's `handle` that search engines may list its page, and which text describes it. */
export const described = (description: DescriptionText) => ({ description });

/**
 * What search engines are told. A page is listed when its route says so, and only without a query: a query holds an
 * address, a token or a notice. Every other page is personal, is reached by a mailed link, or is an error.
 */
export function SearchEngineMeta({ isError }: { isError: boolean }) {
  const t = useTexts();
  const { name } = useBrand();
  const { search } = useLocation();
  const [description] = useMatches().flatMap(
    ({ handle }) => (handle as Partial<ReturnType<typeof described>> | undefined)?.description ?? [],
  );
  if (isError || description === undefined || search !== "") return <meta name="robots" content="noindex" />;
  return <meta name="description" content={t(description, { brand: name })} />;
}

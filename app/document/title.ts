import { useLocation, useMatches } from "@remix-run/react";
import type { PageTexts } from "#server/languages/texts";
import type { Values } from "#server/languages/translate";
import { type PageText, usePage } from "./page-context";

type PlainPageText = { [Key in PageText]: Values<PageTexts, Key> extends [] ? Key : never }[PageText];

interface Search {
  description?: Extract<PageText, `${string}.description`>;
  listed?: boolean;
  /** The page sets a password, or leads to a page that does. */
  password?: boolean;
}

export const titled = (title: PlainPageText, search: Search = {}) => ({ title, ...search });

/** Search engines may list a page only without a query, which can hold an address, a token or a notice. */
export function useHead(errorStatus: number | null) {
  const { t, brand } = usePage();
  const { search } = useLocation();
  const handle = usePageHandle();
  if (errorStatus !== null) return { title: `${t(errorTexts(errorStatus).title)} · ${brand.name}`, listed: false };
  if (!handle) return { title: brand.name, listed: false };
  const { title, description, listed } = handle;
  return {
    title: `${t(title)} · ${brand.name}`,
    description: description && t(description, { brand: brand.name }),
    listed: listed && search === "",
  };
}

export const noPasswords = titled("noPasswords.title");

/** With `PASSWORDS=off`, one page replaces all pages about passwords. */
export function usePageHandle() {
  const { passwordless } = usePage();
  const handles = useMatches().map(({ handle }) => handle as ReturnType<typeof titled> | undefined);
  const handle = handles.find(Boolean);
  return passwordless !== null && handle?.password ? noPasswords : handle;
}

/**
 * The statuses with a page of their own, and the label of the page's link to the same address or to the start page.
 * Status 0, as that of an XMLHttpRequest, stands for a request without an answer.
 */
const errorLinks = {
  0: "tryAgain",
  400: "goToStart",
  403: "openFormAgain",
  404: "goToStart",
  405: "goToStart",
  413: "openFormAgain",
  415: "openFormAgain",
  422: "openFormAgain",
  429: "tryAgain",
  500: "tryAgain",
  503: "tryAgain",
} as const;

export function errorTexts(answered: number) {
  const status = answered in errorLinks ? (answered as keyof typeof errorLinks) : 500;
  return { title: `errors.title${status}`, text: `errors.text${status}`, link: errorLinks[status] } as const;
}

/** The statuses with a page of their own, and the label of the page's link to the same address or to the start page. */
const links = {
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
  const status = answered in links ? (answered as keyof typeof links) : 500;
  return { title: `errors.title${status}`, text: `errors.text${status}`, link: links[status] } as const;
}

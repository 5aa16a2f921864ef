import { useLocation } from "@remix-run/react";
import { useEffect } from "react";
import { useTexts } from "~/document/language";
import { Page } from "./page";

/** The statuses with a page of their own, and the label of its one link: to the same address, or to the start page. */
const nexts = {
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

type Status = keyof typeof nexts;

const pageOf = (status: number) => (status in nexts ? (status as Status) : 500);

export const errorTitle = (status: number) => `errors.title${pageOf(status)}` as const;

/** Its link is a full page load, because the failed page's scripts may not work. */
export function ErrorPage({ status }: { status: number }) {
  const t = useTexts();
  const { pathname, search } = useLocation();
  const next = nexts[pageOf(status)];
  useEffect(() => document.querySelector("h1")?.focus(), []);
  return (
    <Page title={t(errorTitle(status))}>
      <p>{t(`errors.text${pageOf(status)}`)}</p>
      <p>
        <a href={next === "goToStart" ? "/" : `${pathname}${search}`} className="button">
          {t(`errors.${next}`)}
        </a>
      </p>
    </Page>
  );
}

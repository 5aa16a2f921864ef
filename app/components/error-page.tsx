import { useLocation } from "@remix-run/react";
import { useEffect } from "react";
import { errorTexts } from "~/document/error-texts";
import { useTexts } from "~/document/language";
import { Fault, Page } from "./page";

/** Its link is a full page load, because the failed page's scripts may not work. */
export function ErrorPage({ status, requestId }: { status: number; requestId?: string | undefined }) {
  const t = useTexts();
  const { pathname, search } = useLocation();
  const { title, text, link } = errorTexts(status);
  useEffect(() => document.querySelector("h1")?.focus(), []);
  return (
    <Page title={t(title)}>
      <p>{t(text)}</p>
      {link === "tryAgain" && status !== 429 && <Fault requestId={requestId} />}
      <p>
        <a href={link === "goToStart" ? "/" : `${pathname}${search}`} className="button">
          {t(`errors.${link}`)}
        </a>
      </p>
    </Page>
  );
}

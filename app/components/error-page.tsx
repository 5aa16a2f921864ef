import { useLocation } from "@remix-run/react";
import { useEffect } from "react";
import { errorTexts } from "~/document/error-texts";
import { useTexts } from "~/document/language";
import { Fault, Page } from "./page";

/** The link loads the whole page, because the scripts of the failed page may not work. */
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

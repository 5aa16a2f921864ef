import { useEffect, useState } from "react";
import { useTexts } from "~/document/page-context";
import { Notice } from "./page";

export function CookiesBlocked() {
  const t = useTexts();
  const [blocked, setBlocked] = useState(false);
  useEffect(() => setBlocked(areCookiesBlocked()), []);
  return blocked && <Notice role="alert">{t("common.cookiesBlocked")}</Notice>;
}

/** Sets a cookie to find out: in Chromium, `navigator.cookieEnabled` stays true while all cookies are blocked. */
function areCookiesBlocked(): boolean {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API needs https and is asynchronous
  document.cookie = `tried=1; Max-Age=1; SameSite=Strict${location.protocol === "https:" ? "; Secure" : ""}`;
  return !document.cookie.includes("tried=1");
}

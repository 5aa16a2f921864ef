import { Link, useLocation, useSearchParams } from "@remix-run/react";
import { type ReactNode, useEffect } from "react";
import { languages } from "#server/languages/languages";
import { mailtoUrl } from "#server/rules";
import { withReturnTo } from "~/answers/return-to";
import { Text, usePage } from "~/document/page-context";
import { errorTexts } from "~/document/title";

/** The brand's links, and each language by its own name. With a plain form, the browser loads the whole page again. */
export function Footer() {
  const { t, language, brand } = usePage();
  const { termsUrl, privacyUrl, supportEmail } = brand;
  const { pathname, search } = useLocation();
  const page = pathname.startsWith("//") ? "/" : pathname + search; // a redirect to `//…` is refused
  return (
    <footer>
      {(termsUrl || privacyUrl || supportEmail) && (
        <p className="links">
          {termsUrl && <a href={termsUrl}>{t("common.terms")}</a>}
          {privacyUrl && <a href={privacyUrl}>{t("common.privacy")}</a>}
          {supportEmail && <a href={mailtoUrl(supportEmail)}>{t("common.help")}</a>}
        </p>
      )}
      <form method="post" action="/language" aria-label={t("common.language")} className="languages">
        <input type="hidden" name="page" value={page} />
        {Object.entries(languages).map(([tag, { name, direction }]) => (
          <button
            key={tag}
            type="submit"
            name="language"
            value={tag}
            lang={tag}
            dir={direction}
            aria-current={tag === language || undefined}
          >
            {name}
          </button>
        ))}
      </form>
    </footer>
  );
}

/** Shown above a form that has to be sent again. */
export const Unavailable = ({ requestId }: { requestId: string | undefined }) => (
  <Notice role="alert">
    {usePage().t("errors.text503")}
    <Fault requestId={requestId} />
  </Notice>
);

interface NoticeProps {
  id?: string;
  role: "status" | "alert";
  /** Neither a success nor a failure: the visitor still has to do something (`calm`), or something does not work. */
  look?: "calm" | "warning";
  children: ReactNode;
}

/** A message about the last action: `status` for a success, `alert` for a failure. */
export function Notice({ id, role, look, children }: NoticeProps) {
  return (
    <div id={id} role={role} className={look ? `notice ${look}` : "notice"} tabIndex={-1}>
      {children}
    </div>
  );
}

/** @param notice of the query: it may be any text */
export const noticeText = (texts: Record<string, string | null>, notice: string | null): string | null =>
  notice !== null && Object.hasOwn(texts, notice) ? (texts[notice] ?? null) : null;

export function LeaveProvider({ providerLogout }: { providerLogout: string | null }) {
  const { t } = usePage();
  return providerLogout && <p className="aside">{<a href={providerLogout}>{t("login.leaveProvider")}</a>}</p>;
}

/** The link loads the whole page, because the scripts of the failed page may not work. */
export function ErrorPage({ status, requestId }: { status: number; requestId?: string | undefined }) {
  const { t } = usePage();
  const { pathname, search } = useLocation();
  const { title, text, link } = errorTexts(status);
  useEffect(() => document.querySelector("h1")?.focus(), []);
  return (
    <Page title={t(title)}>
      <p>{t(text)}</p>
      {link === "tryAgain" && status !== 429 && status !== 0 && <Fault requestId={requestId} />}
      <p>
        <a href={link === "goToStart" ? "/" : `${pathname}${search}`} className="button">
          {t(`errors.${link}`)}
        </a>
      </p>
    </Page>
  );
}

/** The request's id in the log, which users can quote when they ask for help. */
function Fault({ requestId }: { requestId: string | undefined }) {
  const { t, brand } = usePage();
  const address = brand.supportEmail;
  return (
    <p>
      {address && <Text of="errors.support" values={{ address }} part={<Link to={mailtoUrl(address)} dir="ltr" />} />}{" "}
      {requestId && t("errors.requestId", { id: requestId })}
    </p>
  );
}

/** For every page about passwords, with `PASSWORDS=off`. */
export function NoPasswords() {
  const { t, passwordless } = usePage();
  const returnTo = useSearchParams()[0].get("return_to");
  return (
    <Page title={t("noPasswords.title")}>
      <p>{t("noPasswords.text", { provider: passwordless ?? "" })}</p>
      <p className="aside">
        <Link to={withReturnTo("/login", returnTo)}>{t("common.backToLogin")}</Link>
      </p>
    </Page>
  );
}

const logo = (
  <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="currentColor" />
    <g fill="none" stroke="var(--pico-primary-inverse)" strokeWidth="2.75" strokeLinecap="round" strokeLinejoin="round">
      <circle cx="13" cy="10.5" r="4.25" />
      <path d="M13 14.75V25.5h8M13 20h5" />
    </g>
  </svg>
);

interface PageProps {
  title: string;
  wide?: boolean;
  children: ReactNode;
}

export function Page({ title, wide, children }: PageProps) {
  const { brand } = usePage();
  return (
    <>
      <header>
        <a href="/" className="logo">
          {brand.logo ? <img src={brand.logo} alt="" /> : logo}
          {brand.name}
        </a>
      </header>
      <main className={wide ? "wide" : undefined}>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </>
  );
}

import { Link, useSearchParams } from "@remix-run/react";
import type { ReactNode } from "react";
import { returnToName, withReturnTo } from "~/answers/return-to";
import { Text } from "~/document/language";
import { usePage } from "~/document/page-context";

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

interface NoticeProps {
  id?: string;
  role: "status" | "alert";
  /** Neither a success nor a failure: the visitor still has to do something. */
  calm?: boolean;
  children: ReactNode;
}

/** A message about the last action: `status` for a success, `alert` for a failure. */
export function Notice({ id, role, calm, children }: NoticeProps) {
  return (
    <div id={id} role={role} className={calm ? "notice calm" : "notice"} tabIndex={-1}>
      {children}
    </div>
  );
}

export const mailto = (address: string) => `mailto:${encodeURIComponent(address).replace("%40", "@")}`;

/** The request's id in the log, which users can quote when they ask for help. */
export function Fault({ requestId }: { requestId: string | undefined }) {
  const { t, brand } = usePage();
  const address = brand.supportEmail;
  return (
    <p>
      {address && (
        <Text
          of="errors.support"
          values={{ address }}
          parts={{
            mail: (text) => (
              <a href={mailto(address)} dir="ltr">
                {text}
              </a>
            ),
          }}
        />
      )}{" "}
      {requestId && t("errors.requestId", { id: requestId })}
    </p>
  );
}

/** Shown above a form that has to be sent again. */
export const Unavailable = ({ requestId }: { requestId: string | undefined }) => (
  <Notice role="alert">
    {usePage().t("errors.text503")}
    <Fault requestId={requestId} />
  </Notice>
);

export function LeaveProvider({ providerLogout }: { providerLogout: string | null }) {
  const { t } = usePage();
  return providerLogout && <p className="aside">{<a href={providerLogout}>{t("login.leaveProvider")}</a>}</p>;
}

/** For every page about passwords, with `PASSWORDS=off`. */
export function NoPasswords() {
  const { t, passwordless } = usePage();
  const returnTo = useSearchParams()[0].get(returnToName);
  return (
    <Page title={t("noPasswords.title")}>
      <p>{t("noPasswords.text", { provider: passwordless ?? "" })}</p>
      <p className="aside">
        <Link to={withReturnTo("/login", returnTo)}>{t("common.backToLogin")}</Link>
      </p>
    </Page>
  );
}

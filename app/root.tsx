import type { HeadersFunction, LinksFunction } from "@remix-run/node";
import { isRouteErrorResponse, Links, LiveReload, Outlet, ScrollRestoration, useRouteError } from "@remix-run/react";
import type { ReactNode } from "react";
import { ErrorPage } from "./components/error-page";
import { LanguageSwitch } from "./components/language-switch";
import { BrandHead } from "./page/brand";
import { useFocusOnArrival } from "./page/focus";
import { useDocumentLanguage } from "./page/language";
import { useNonce } from "./page/nonce";
import { PageForBrowser, TextsPreload } from "./page/page-context";
import { PageScripts } from "./page/page-scripts";
import { useDocumentTitle, useSearchListing } from "./page/title";
import styles from "./styles/latchkey.css";

export const links: LinksFunction = () => [{ rel: "stylesheet", href: styles }];

const statusOf = (error: unknown) => (isRouteErrorResponse(error) ? error.status : 500);

export const headers: HeadersFunction = ({ errorHeaders }) => errorHeaders ?? {};

export function Layout({ children }: { children: ReactNode }) {
  const nonce = useNonce();
  const error = useRouteError() ?? null; // null or undefined without an error
  const errorStatus = error === null ? null : statusOf(error);
  const { description, listed } = useSearchListing(errorStatus);
  return (
    <html {...useDocumentLanguage()}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fff" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#1a201e" media="(prefers-color-scheme: dark)" />
        <title>{useDocumentTitle(errorStatus)}</title>
        {!listed && <meta name="robots" content="noindex" />}
        {description !== null && <meta name="description" content={description} />}
        <Links />
        <BrandHead />
        <TextsPreload />
      </head>
      <body>
        {children}
        <LanguageSwitch />
        <PageForBrowser />
        <ScrollRestoration nonce={nonce} />
        <PageScripts />
        <LiveReload nonce={nonce} />
      </body>
    </html>
  );
}

export default function App() {
  useFocusOnArrival();
  return <Outlet />;
}

export function ErrorBoundary() {
  return <ErrorPage status={statusOf(useRouteError())} />;
}

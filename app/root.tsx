import type { HeadersFunction, LinksFunction } from "@remix-run/node";
import { isRouteErrorResponse, Links, LiveReload, Outlet, ScrollRestoration, useRouteError } from "@remix-run/react";
import type { ReactNode } from "react";
import { languages } from "#server/languages/languages";
import { ErrorPage, Footer, NoPasswords } from "./components/page";
import { useFocusOnArrival } from "./document/focus";
import { lowPriority, PageForBrowser, usePage } from "./document/page-context";
import { BeforeHydration, PageScripts } from "./document/remix-internals";
import { noPasswords, useHead, usePageHandle } from "./document/title";
import styles from "./styles/latchkey.css";

export const links: LinksFunction = () => [{ rel: "stylesheet", href: styles }];

export const headers: HeadersFunction = ({ errorHeaders }) => errorHeaders ?? {};

export function Layout({ children }: { children: ReactNode }) {
  const error = useRouteError() ?? null; // null or undefined without an error
  const { title, description, listed } = useHead(error === null ? null : statusOf(error));
  const { language, brand, textsPath, nonce } = usePage();
  return (
    <html lang={language} dir={languages[language].direction}>
      <head>
        <meta charSet="utf-8" />
        <BeforeHydration />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fff" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#1a201e" media="(prefers-color-scheme: dark)" />
        <title>{title}</title>
        {!listed && <meta name="robots" content="noindex" />}
        {description && <meta name="description" content={description} />}
        <Links />
        {brand.logo ? (
          <link rel="icon" href={brand.logo} />
        ) : (
          <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
        )}
        {brand.colors && <link rel="stylesheet" href={brand.colors} />}
        {/* The browser loads the texts beside the scripts. */}
        <link rel="preload" as="fetch" href={textsPath} {...lowPriority} />
      </head>
      <body>
        {children}
        <Footer />
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
  return usePageHandle() === noPasswords ? <NoPasswords /> : <Outlet />;
}

export function ErrorBoundary() {
  const error = useRouteError();
  const { requestId } = isRouteErrorResponse(error) ? Object(error.data) : {};
  return <ErrorPage status={statusOf(error)} requestId={requestId} />;
}

/** A TypeError is that of a failed `fetch`: in production, no error of the server arrives here as one. */
function statusOf(error: unknown) {
  if (isRouteErrorResponse(error)) return error.status;
  return error instanceof TypeError ? 0 : 500;
}

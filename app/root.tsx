import type { HeadersFunction, LinksFunction } from "@remix-run/node";
import {
  isRouteErrorResponse,
  Links,
  LiveReload,
  Outlet,
  Scripts,
  ScrollRestoration,
  useRouteError,
} from "@remix-run/react";
import type { ReactNode } from "react";
import { ErrorPage } from "./components/error-page";
import { LanguageSwitch } from "./components/language-switch";
import { useFocusOnArrival } from "./focus";
import { TextsForBrowser, useDocumentLanguage } from "./language";
import { useNonce } from "./nonce";
import styles from "./styles/latchkey.css";
import { useDocumentTitle } from "./title";

export const links: LinksFunction = () => [
  { rel: "icon", href: "/favicon.svg", type: "image/svg+xml" },
  { rel: "stylesheet", href: styles },
];

const statusOf = (error: unknown) => (isRouteErrorResponse(error) ? error.status : 500);

export const headers: HeadersFunction = ({ errorHeaders }) => errorHeaders ?? {};

export function Layout({ children }: { children: ReactNode }) {
  const nonce = useNonce();
  const error = useRouteError();
  return (
    <html {...useDocumentLanguage()}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="theme-color" content="#fff" media="(prefers-color-scheme: light)" />
        <meta name="theme-color" content="#1a201e" media="(prefers-color-scheme: dark)" />
        <title>{useDocumentTitle(error === undefined ? null : statusOf(error))}</title>
        <Links />
      </head>
      <body>
        {children}
        <LanguageSwitch />
        <TextsForBrowser />
        <ScrollRestoration nonce={nonce} />
        <Scripts nonce={nonce} />
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

import type { ReactNode } from "react";
import { brand } from "~/brand";
import { Logo } from "./logo";

/** The layout of every page: the logo, one heading and the content. */
export function Page({ title, wide, children }: { title: string; wide?: boolean; children: ReactNode }) {
  return (
    <>
      <header>
        <a href="/" className="logo">
          <Logo />
          {brand}
        </a>
      </header>
      <main className={wide ? "wide" : undefined}>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </>
  );
}

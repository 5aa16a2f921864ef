import type { ReactNode } from "react";
import { Logo } from "./logo";

/** The frame of every page: one heading, and what belongs to it. */
export function Page({ title, wide, children }: { title: string; wide?: boolean; children: ReactNode }) {
  return (
    <>
      <header>
        <a href="/" className="logo">
          <Logo />
          Latchkey
        </a>
      </header>
      <main className={wide ? "wide" : undefined}>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </>
  );
}

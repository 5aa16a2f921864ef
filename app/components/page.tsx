import type { ReactNode } from "react";
import { useBrand } from "~/brand";
import { Logo } from "./logo";

/** The layout of every page: the logo, one heading and the content. */
export function Page({ title, wide, children }: { title: string; wide?: boolean; children: ReactNode }) {
  const { name, logo } = useBrand();
  return (
    <>
      <header>
        <a href="/" className="logo">
          {logo ? <img src={logo} alt="" /> : <Logo />}
          {name}
        </a>
      </header>
      <main className={wide ? "wide" : undefined}>
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </main>
    </>
  );
}

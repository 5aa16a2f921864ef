import type { ReactNode } from "react";
import { useBrand } from "~/page/brand";
import { Logo } from "./logo";

interface PageProps {
  title: string;
  wide?: boolean;
  /** Shown beside the heading. */
  aside?: ReactNode;
  children: ReactNode;
}

/** The layout of every page: the logo, one heading and the content. */
export function Page({ title, wide, aside, children }: PageProps) {
  const { name, logo } = useBrand();
  const heading = <h1 tabIndex={-1}>{title}</h1>;
  return (
    <>
      <header>
        <a href="/" className="logo">
          {logo ? <img src={logo} alt="" /> : <Logo />}
          {name}
        </a>
      </header>
      <main className={wide ? "wide" : undefined}>
        {aside ? (
          <div className="row">
            {heading}
            {aside}
          </div>
        ) : (
          heading
        )}
        {children}
      </main>
    </>
  );
}

import type { ReactNode } from "react";

/** A question or a form that is shown when it is asked for, also without JavaScript. */
export function Disclosure({ label, open, children }: { label: string; open?: boolean; children: ReactNode }) {
  return (
    <details open={open}>
      <summary>{label}</summary>
      {children}
    </details>
  );
}

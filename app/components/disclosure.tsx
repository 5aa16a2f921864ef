import type { ReactNode } from "react";

interface DisclosureProps {
  label: string;
  open?: boolean;
  danger?: boolean;
  children: ReactNode;
}

/** A question or a form that is shown when it is asked for, also without JavaScript. */
export function Disclosure({ label, open, danger, children }: DisclosureProps) {
  return (
    <details open={open} className={danger ? "danger" : undefined}>
      <summary>{label}</summary>
      {children}
    </details>
  );
}

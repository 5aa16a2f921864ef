import { useLocation } from "@remix-run/react";
import { useEffect, useState } from "react";

/** Where the focus goes, in this order: the field with an error, the message, the heading. */
const focusTargets = ["main [aria-invalid=true]", "main [role=alert]", "main .notice", "h1"];

export function useFocusOnArrival(): void {
  const { key } = useLocation();
  const [firstKey] = useState(key);
  useEffect(() => {
    if (key === firstKey) return;
    const [target] = focusTargets.flatMap((selector) => document.querySelector<HTMLElement>(selector) ?? []);
    target?.focus();
    if (target instanceof HTMLInputElement) target.select();
  }, [key, firstKey]);
}

import { useLocation } from "@remix-run/react";
import { useEffect, useState } from "react";

/** Where to read on, the first that there is: an error's field, what happened, the heading. */
const arrivals = ["main [aria-invalid=true]", "main [role=alert]", "main .notice", "h1"];

/** Moves the focus after a navigation without a full load, where the browser does not. */
export function useFocusOnArrival(): void {
  const { key } = useLocation();
  const [firstKey] = useState(key);
  useEffect(() => {
    if (key === firstKey) return;
    const [target] = arrivals.flatMap((selector) => document.querySelector<HTMLElement>(selector) ?? []);
    target?.focus();
    if (target instanceof HTMLInputElement) target.select();
  }, [key, firstKey]);
}

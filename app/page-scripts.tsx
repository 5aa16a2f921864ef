import { Scripts } from "@remix-run/react";
import { Children, cloneElement, isValidElement, type ReactNode } from "react";
import { lowPriority } from "./low-priority";
import { useNonce } from "./nonce";

const fetchLast = (child: ReactNode) =>
  isValidElement(child) && child.type === "link" ? cloneElement(child, lowPriority) : child;

/**
 * Remix's scripts, which a page is shown and works without. A browser fetches `modulepreload` with high priority, so the
 * stylesheet would share a slow connection with them: they are fetched after it. `<Scripts />` has no option for that,
 * so its elements are changed, as they were read in Remix 2.17.5.
 */
export function PageScripts() {
  const scripts = Scripts({ nonce: useNonce() });
  return scripts && <>{Children.map(scripts.props.children, fetchLast)}</>;
}

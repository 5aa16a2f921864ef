import { Scripts } from "@remix-run/react";
import { Children, cloneElement, isValidElement, type ReactNode } from "react";
import { lowPriority } from "./low-priority";
import { useNonce } from "./nonce";

const withLowPriority = (child: ReactNode) =>
  isValidElement(child) && child.type === "link" ? cloneElement(child, lowPriority) : child;

/**
 * Remix's scripts. A page is shown, and works, without them. A browser gives `modulepreload` a high priority, so they
 * would compete with the stylesheet on a slow connection. `<Scripts />` has no option for the priority, so its elements
 * are changed, as they were read in Remix 2.17.5.
 */
export function PageScripts() {
  const scripts = Scripts({ nonce: useNonce() });
  return scripts && <>{Children.map(scripts.props.children, withLowPriority)}</>;
}

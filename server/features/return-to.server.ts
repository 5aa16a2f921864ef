import { config } from "../config";
import { allowedTarget, ownPath } from "../settings/return-to";

/**
 * Where a visitor may be sent after a sign-in.
 *
 * @returns a path of ours or an absolute URL, serialised; `null` when the text is neither, or its origin is not allowed
 */
export function allowedReturn(text: string): string | null {
  return allowedTarget(text, config());
}

/** A path of ours, serialised; `null` when the text may lead elsewhere. */
export function allowedPath(text: string): string | null {
  return ownPath(text, config());
}

/** Where a sign-in ends that names no other place. */
export const afterSignIn = (): string => config().afterSignIn;

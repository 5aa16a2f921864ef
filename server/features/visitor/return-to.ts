import { config } from "../../config";
import { allowedTarget, ownPath } from "../../settings/return-to";

/** Where a visitor may be sent after a sign-in, serialised; `null` when the text is no allowed path or URL. */
export const allowedReturn = (text: string): string | null => allowedTarget(text, config());

export const allowedPath = (text: string): string | null => ownPath(text, config());

export const afterSignIn = (): string => config().afterSignIn;

import type { FingerprintedAsset } from "../fingerprinted-asset";
import { brandFiles } from "./branding.server";
import { textFiles } from "./language.server";

/** A file of the brand, or the texts of a language; `undefined` for another path. */
export const findFile = (path: string): FingerprintedAsset | undefined => brandFiles().get(path) ?? textFiles.get(path);

import type { HashedFile } from "../hashed-file";
import { brandFiles } from "./branding.server";
import { textFiles } from "./language.server";

/** A file of the brand, or the texts of a language; `undefined` for another path. */
export const findFile = (path: string): HashedFile | undefined => brandFiles().get(path) ?? textFiles.get(path);

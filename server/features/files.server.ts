import type { HashedFile } from "../hashed-file";
import { brandFiles } from "./branding.server";
import { textFiles } from "./language.server";

export type { HashedFile } from "../hashed-file";

/** A file below `/__files/`: the brand's, or the texts of a language; `undefined` for another name. */
export const findFile = (name: string): HashedFile | undefined =>
  [...brandFiles(), ...textFiles()].find((file) => file.name === name);

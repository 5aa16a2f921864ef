import { gzipSync } from "node:zlib";
import { sha256 } from "../crypto/tokens";

/** A file that browsers may keep for ever, because its path changes with its content. */
export type FingerprintedAsset = ReturnType<typeof fingerprinted>;

export function fingerprinted(stem: string, extension: string, type: string, content: Buffer) {
  const hash = sha256(content).slice(0, 16);
  return { path: `/__files/${stem}-${hash}${extension}`, type, content, gzipped: gzipSync(content) };
}

export const byPath = (files: FingerprintedAsset[]) => new Map(files.map((file) => [file.path, file]));

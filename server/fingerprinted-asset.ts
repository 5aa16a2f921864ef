import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";

/** A file that browsers may keep for ever, because its path changes with its content. */
export interface FingerprintedAsset {
  path: string;
  type: string;
  content: Buffer;
  gzipped: Buffer;
}

export function fingerprinted(stem: string, extension: string, type: string, content: Buffer): FingerprintedAsset {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return { path: `/__files/${stem}-${hash}${extension}`, type, content, gzipped: gzipSync(content) };
}

export type AssetsByPath = ReadonlyMap<string, FingerprintedAsset>;

export const byPath = (files: FingerprintedAsset[]): AssetsByPath => new Map(files.map((file) => [file.path, file]));

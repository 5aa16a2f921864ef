import { createHash } from "node:crypto";

/** A file that browsers may keep for ever, because its name changes with its content. */
export interface HashedFile {
  name: string;
  type: string;
  content: Buffer;
}

/** @param extension with its dot */
export function hashedFile(stem: string, extension: string, type: string, content: Buffer): HashedFile {
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 16);
  return { name: `${stem}-${hash}${extension}`, type, content };
}

export const pathOfFile = ({ name }: HashedFile) => `/__files/${name}`;

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** As record-writes.js writes it. */
export type Change = { path: string } & (
  | { kind: "create"; isFolder?: true }
  | { kind: "write"; position: number; data: Buffer }
  | { kind: "truncate"; length: number }
  | { kind: "rename"; to: string }
  | { kind: "remove" | "flush" }
);

/** What became of the writes that were not flushed when the power went. */
export type Fate = "lost" | "kept" | "half kept";

type Write = { position: number; data: Buffer } | { length: number };

interface Node {
  isFolder: boolean;
  flushed: Buffer;
  writes: Write[];
}

/** A name that appears or goes, and the folders that must be flushed for it to be on the disk. */
interface NameChange {
  changes: [path: string, node: Node | null][];
  unflushed: Set<string>;
}

const piece = 4096; // bytes

const endOf = (write: Write) => ("length" in write ? write.length : write.position + write.data.length);

/** Changes `content` itself where it is long enough: a segment of the log has 16 MB, and a flush for each commit. */
function written(content: Buffer, writes: Write[]): Buffer {
  const longest = writes.reduce((most, write) => Math.max(most, endOf(write)), content.length);
  const whole = longest > content.length ? Buffer.concat([content], longest) : content;
  let length = content.length;
  for (const write of writes) {
    if ("length" in write) {
      whole.fill(0, Math.min(length, write.length));
      length = write.length;
    } else {
      whole.set(write.data, write.position);
      length = Math.max(length, endOf(write));
    }
  }
  return whole.subarray(0, length);
}

function inPieces(write: Write): Write[] {
  if ("length" in write) return [write];
  const pieces: Write[] = [];
  for (let at = 0; at < write.data.length; ) {
    const end = Math.min(write.data.length, at + piece - ((write.position + at) % piece));
    pieces.push({ position: write.position + at, data: write.data.subarray(at, end) });
    at = end;
  }
  return pieces;
}

/** What a disk holds for certain, and what it may hold besides, as POSIX promises it: by the flushes alone. */
export class Disk {
  readonly #now = new Map<string, Node>();
  readonly #flushed = new Map<string, Node>();
  #pending: NameChange[] = [];

  /** With the files that the folder has now, all of them flushed. */
  constructor(folder: string) {
    this.#flushed.set(folder, { isFolder: true, flushed: Buffer.alloc(0), writes: [] });
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      const flushed = entry.isFile() ? readFileSync(path) : Buffer.alloc(0);
      this.#flushed.set(path, { isFolder: entry.isDirectory(), flushed, writes: [] });
    }
    for (const [path, node] of this.#flushed) this.#now.set(path, node);
  }

  apply(change: Change): void {
    const { kind, path } = change;
    const node = this.#now.get(path);
    if (kind === "create") {
      const created = { isFolder: change.isFolder ?? false, flushed: Buffer.alloc(0), writes: [] };
      this.#rename([[path, created]]);
    } else if (kind === "rename") {
      const moved = this.#below(path).flatMap((from): NameChange["changes"] => [
        [change.to + from.slice(path.length), this.#now.get(from) ?? null],
        [from, null],
      ]);
      this.#rename(moved, [dirname(path), dirname(change.to)]);
    } else if (kind === "remove") {
      this.#rename(this.#below(path).map((gone) => [gone, null]));
    } else if (kind === "write") {
      node?.writes.push({ position: change.position, data: change.data });
    } else if (kind === "truncate") {
      node?.writes.push({ length: change.length });
    } else if (node) {
      this.#flush(path, node);
    }
  }

  #below(path: string): string[] {
    return [...this.#now.keys()].filter((other) => other === path || other.startsWith(`${path}/`)).reverse();
  }

  #rename(changes: NameChange["changes"], folders = changes.map(([path]) => dirname(path))): void {
    for (const [path, node] of changes) {
      if (node) this.#now.set(path, node);
      else this.#now.delete(path);
    }
    this.#pending.push({ changes, unflushed: new Set(folders) });
  }

  #flush(path: string, node: Node): void {
    node.flushed = written(node.flushed, node.writes);
    node.writes = [];
    if (!node.isFolder) return;
    for (const { unflushed } of this.#pending) unflushed.delete(path);
    while (this.#pending[0]?.unflushed.size === 0) {
      for (const [changed, to] of this.#pending.shift()?.changes ?? []) {
        if (to) this.#flushed.set(changed, to);
        else this.#flushed.delete(changed);
      }
    }
  }

  /** Writes down what the disk holds if the power goes now, with `from` renamed `to`. */
  cut(fate: Fate, random: () => number, from: string, to: string): void {
    const isKept = () => fate === "kept" || (fate === "half kept" && random() < 0.5);
    const names = new Map(this.#flushed);
    for (const { changes, unflushed } of this.#pending) {
      if (unflushed.size > 0 && !isKept()) continue;
      for (const [path, node] of changes) {
        if (node) names.set(path, node);
        else names.delete(path);
      }
    }
    for (const path of [...names.keys()].sort()) {
      const { isFolder, flushed, writes } = names.get(path) as Node;
      const place = to + path.slice(from.length);
      const kept = writes.flatMap(inPieces).filter(isKept);
      if (isFolder && existsSync(dirname(place))) mkdirSync(place, { recursive: true });
      else if (existsSync(dirname(place))) writeFileSync(place, written(Buffer.from(flushed), kept));
    }
  }
}

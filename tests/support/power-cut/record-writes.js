import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { serialize } from "node:v8";

// Preloaded into a service. Writes down what the process does to the files below RECORDED_FOLDER, in its order.

const { RECORDED_FOLDER: folder, RECORD: record } = process.env;
const { existsSync, openSync, readlinkSync, statSync, writeSync } = fs;
const descriptor = openSync(record, "a");

const isBelow = (path) => path === folder || String(path).startsWith(`${folder}/`);

function note(change) {
  if (!isBelow(change.path)) return;
  const data = serialize(change);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  writeSync(descriptor, Buffer.concat([length, data]));
}

const pathOf = (fd) => readlinkSync(`/proc/self/fd/${fd}`);

const bytesOf = (buffer, offset, length) =>
  Buffer.from(buffer.buffer, buffer.byteOffset, buffer.byteLength).subarray(offset, offset + length);

/** What a call changes, by its arguments; read before the call where it needs the state before. */
const calls = {
  openSync(path, flags = "r") {
    const { O_CREAT, O_TRUNC } = fs.constants;
    const [creates, truncates] =
      typeof flags === "number" ? [flags & O_CREAT, flags & O_TRUNC] : [/[aw]/.test(flags), /w/.test(flags)];
    if (creates && !existsSync(path)) return { kind: "create", path };
    return truncates ? { kind: "truncate", path, length: 0 } : null;
  },
  writeFileSync(path) {
    if (statSync(path, { throwIfNoEntry: false })?.size) throw new Error(`${path} is written as a whole`);
    return existsSync(path) ? null : { kind: "create", path };
  },
  writeSync: (fd, buffer, offset, length, position) => ({
    kind: "write",
    path: pathOf(fd),
    position,
    data: bytesOf(buffer, offset, length),
  }),
  truncateSync: (path, length) => ({ kind: "truncate", path, length }),
  ftruncateSync: (fd, length) => ({ kind: "truncate", path: pathOf(fd), length }),
  fsyncSync: (fd) => ({ kind: "flush", path: pathOf(fd) }),
  mkdirSync: (path) => ({ kind: "create", path, isFolder: true }),
  renameSync: (path, to) => ({ kind: "rename", path, to }),
  unlinkSync: (path) => ({ kind: "remove", path }),
  rmdirSync: (path) => ({ kind: "remove", path }),
};

let isWithin = false; // a call that Node makes by another one of them

for (const [name, changeOf] of Object.entries(calls)) {
  const call = fs[name];
  fs[name] = (...args) => {
    if (isWithin || !isBelow(typeof args[0] === "number" ? pathOf(args[0]) : args[0])) return call(...args);
    const change = changeOf(...args);
    isWithin = true;
    try {
      const result = call(...args);
      if (change) note(change);
      return result;
    } finally {
      isWithin = false;
    }
  };
}

for (const [name, kind] of [
  ["writeFile", "create"],
  ["rm", "remove"],
]) {
  const call = fs.promises[name];
  fs.promises[name] = async (path, ...rest) => {
    const result = await call(path, ...rest);
    note({ kind, path });
    return result;
  };
}

const handle = await fs.promises.open(record);
const handles = Object.getPrototypeOf(handle);
await handle.close();
const { sync } = handles;
handles.sync = async function () {
  await sync.call(this);
  note({ kind: "flush", path: pathOf(this.fd) });
};

syncBuiltinESMExports();

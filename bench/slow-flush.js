import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

// Preloaded into a service: in place of this machine's disk, each flush takes FLUSH_MS.
const waited = new Int32Array(new SharedArrayBuffer(4));

fs.fsyncSync = () => void Atomics.wait(waited, 0, 0, Number(process.env.FLUSH_MS));
syncBuiltinESMExports();

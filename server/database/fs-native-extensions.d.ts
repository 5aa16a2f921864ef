declare module "fs-native-extensions" {
  /** Locks the file for this open file alone; `false` when another one has the lock. */
  export function tryLock(fd: number): boolean;
}

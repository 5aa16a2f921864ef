declare module "fs-native-extensions" {
  /** Locks the file for this open file description; `false` if another one has the lock. */
  export function tryLock(fd: number): boolean;
}

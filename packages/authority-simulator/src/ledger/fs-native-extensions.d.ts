declare module 'fs-native-extensions' {
  /** Locks an open file for this process alone; false if another process holds it. The system releases it with the file. */
  export function tryLock(handle: number): boolean;
}

export { acquireFileLock, withFileLock, type FileLockHandle, type FileLockOptions } from "../values/files.ts";

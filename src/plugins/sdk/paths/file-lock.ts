export { acquireFileLock, withFileLock, type FileLockHandle, type FileLockOptions } from "../files.ts";

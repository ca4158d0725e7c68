/**
 * Codes of errors that this project throws on purpose. A code names the kind of failure for machines; the message says what was
 * expected, what came and what to do. All modules add their codes to this one list.
 */
export type ErrorCode =
  /** The caller passed something that does not fit the contract. */
  | "INVALID_INPUT"
  /** The named thing does not exist. */
  | "NOT_FOUND"
  /** Another writer changed it first, or holds it. */
  | "CONFLICT"
  /** The lease or fencing token has passed to another owner. */
  | "FENCED"
  /** A bounded queue or size limit was reached; nothing was accepted. */
  | "OVERLOADED"
  /** The module is not available in this version, is closed, or its backend cannot be reached. */
  | "UNAVAILABLE"
  | "CONFIG_INVALID"
  | "CONFIG_STALE"
  | "SECRET_UNRESOLVED"
  /** The operating system refused a file operation. */
  | "IO_ERROR"
  | "DISK_FULL"
  | "READ_ONLY"
  | "PERMISSION_DENIED"
  /** The store's file is damaged. */
  | "STORE_DAMAGED"
  /** A write could not be made durable: nothing after it may be acknowledged. */
  | "STORE_FAILED"
  /** The store's file was written by a newer version than this one can read. */
  | "STORE_TOO_NEW"
  /** A call to a model failed; the details say how. */
  | "MODEL_FAILED"
  | "LOCKED"
  /** A request would have gone to a host or address that it may not reach. */
  | "HOST_BLOCKED"
  /** A plugin's code could not be loaded, or threw. */
  | "PLUGIN_FAILED"
  | "TIMEOUT"
  | "CANCELLED"
  | "INTERNAL";

export interface AppErrorOptions {
  readonly cause?: unknown;
  /** Facts for machines, safe to show: never a secret. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** The one error class. Anything else that is thrown is a bug and becomes `INTERNAL` at the entry points. */
export class AppError extends Error {
  override readonly name = "AppError";
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Text of any thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Any thrown value as an error. */
export function errorOf(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** The operating system's code (`ENOENT`, `ENOSPC`, …) of a failed call, if it has one. */
export function systemCode(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

const FILE_ERRORS: Readonly<Record<string, { code: ErrorCode; what: string; advice: string }>> = {
  ENOENT: { code: "NOT_FOUND", what: "does not exist", advice: "check the path" },
  EACCES: { code: "PERMISSION_DENIED", what: "may not be accessed by this user", advice: "check its owner and mode" },
  EPERM: { code: "PERMISSION_DENIED", what: "may not be changed by this user", advice: "check its owner and mode" },
  EROFS: { code: "READ_ONLY", what: "is on a read-only file system", advice: "remount it writable or choose another folder" },
  ENOSPC: { code: "DISK_FULL", what: "does not fit: the disk is full", advice: "free some space and start again" },
  EDQUOT: { code: "DISK_FULL", what: "does not fit: the quota is used up", advice: "free some space and start again" },
  EISDIR: { code: "INVALID_INPUT", what: "is a folder", advice: "name a file" },
  ENAMETOOLONG: { code: "INVALID_INPUT", what: "has a name that is too long for the file system", advice: "choose a shorter one" },
  ENOTDIR: { code: "INVALID_INPUT", what: "has a file where a folder is needed", advice: "check the path" },
  EIO: { code: "IO_ERROR", what: "could not be read or written: the disk reports an error", advice: "check the disk before anything else" },
};

/** Shortens paths that are too long to read. */
const shortened = (path: string): string => (path.length > 1000 ? `${path.slice(0, 200)}… (${path.length} characters)` : path);

/** Turns a failed file call into an `AppError` that names the path and what to do. An `AppError` passes through. */
export function fileError(path: string, doing: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const known = FILE_ERRORS[systemCode(error) ?? ""];
  if (!known) return new AppError("IO_ERROR", `${doing}: ${path}: ${messageOf(error)}`, { cause: error, details: { path } });
  return new AppError(known.code, `${doing}: ${shortened(path)} ${known.what}; ${known.advice}`, { cause: error, details: { path } });
}

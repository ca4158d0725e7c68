import { AppError, messageOf, type ErrorCode } from "../../base/errors.ts";

/** Primary result codes of SQLite that are handled. */
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const TOOBIG = 18;
const CONSTRAINT = 19;
const AUTH = 23;
const NOTADB = 26;
const PERM = 3;

const MEANINGS: Readonly<Record<number, { readonly code: ErrorCode; readonly text: string }>> = {
  [PERM]: { code: "PERMISSION_DENIED", text: "the database may not be accessed by this user; check the owner and mode of the state folder" },
  [AUTH]: { code: "PERMISSION_DENIED", text: "the database may not be accessed by this user; check the owner and mode of the state folder" },
  [BUSY]: { code: "LOCKED", text: "another process has locked the database; stop it, or try again" },
  [LOCKED]: { code: "LOCKED", text: "another reader has locked the database; try again" },
  [READONLY]: { code: "READ_ONLY", text: "the database cannot be written: the file system is read-only, or the file's owner or mode does not allow it" },
  [IOERR]: { code: "IO_ERROR", text: "the disk reports an error; check it before anything else" },
  [CORRUPT]: { code: "STORE_DAMAGED", text: "the database is damaged; start again to save what can be read" },
  [NOTADB]: { code: "STORE_DAMAGED", text: "the file is not a database; start again to save what can be read" },
  [FULL]: { code: "DISK_FULL", text: "the disk is full; free some space" },
  [CANTOPEN]: { code: "IO_ERROR", text: "the database cannot be opened; check that the state folder exists and may be written" },
  [TOOBIG]: { code: "INVALID_INPUT", text: "a value is larger than a database row may be (1 GB)" },
  [CONSTRAINT]: { code: "CONFLICT", text: "a row with this id already exists" },
};

/** SQLite's extended result code of a failed call, if it is one. */
export function sqliteCode(error: unknown): number | undefined {
  return error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : undefined;
}

/** The failed call as an `AppError`. An `AppError` passes through. */
export function storeError(doing: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const errcode = sqliteCode(error);
  const known = errcode === undefined ? undefined : MEANINGS[errcode & 0xff];
  if (!known) return new AppError("INTERNAL", `${doing}: ${messageOf(error)}`, { cause: error, ...(errcode === undefined ? {} : { details: { errcode } }) });
  return new AppError(known.code, `${doing}: ${known.text} (${messageOf(error)})`, { cause: error, details: { errcode } });
}

export function isDamage(error: unknown): boolean {
  const primary = (sqliteCode(error) ?? 0) & 0xff;
  return primary === CORRUPT || primary === NOTADB || (error instanceof AppError && error.code === "STORE_DAMAGED");
}

/** True when the disk, not the data, failed: nothing of the same transaction can be trusted to have happened. */
export function isDiskFailure(error: unknown): boolean {
  const primary = (sqliteCode(error) ?? 0) & 0xff;
  return primary === IOERR || primary === FULL || primary === READONLY || primary === CANTOPEN || isDamage(error);
}

/** Another process holds the database. */
export function isHeld(error: unknown): boolean {
  return ((sqliteCode(error) ?? 0) & 0xff) === BUSY;
}

export function isDiskFull(error: unknown): boolean {
  return ((sqliteCode(error) ?? 0) & 0xff) === FULL;
}

/** An error as it crosses the thread. */
export interface ErrorMessage {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export function errorMessage(error: AppError): ErrorMessage {
  return { code: error.code, message: error.message, details: error.details };
}

export function errorFrom(message: ErrorMessage): AppError {
  return new AppError(message.code, message.message, { details: message.details });
}

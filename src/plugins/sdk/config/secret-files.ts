/** Secrets in files. */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { AppError, fileError, messageOf } from "../../../base/errors.ts";

export interface SecretFileOptions {
  readonly rejectSymlink?: boolean | undefined;
  /** Default 16 KiB. */
  readonly maxBytes?: number | undefined;
}

const MAX_BYTES = 16 * 1024;

/** The text of a small file, trimmed. Throws where there is none, it is empty, or no plain file. */
export function readSecretFileSync(path: string, label: string, { rejectSymlink = false, maxBytes = MAX_BYTES }: SecretFileOptions = {}): string {
  let handle: number | undefined;
  try {
    if (rejectSymlink && lstatSync(path).isSymbolicLink()) throw new AppError("INVALID_INPUT", `${label}: ${path} is a symbolic link; use the file itself`);
    handle = openSync(path, constants.O_RDONLY | (rejectSymlink ? constants.O_NOFOLLOW : 0));
    const stat = fstatSync(handle);
    if (!stat.isFile()) throw new AppError("INVALID_INPUT", `${label}: ${path} is not a regular file`);
    if (stat.size > maxBytes) throw new AppError("INVALID_INPUT", `${label}: ${path} is larger than ${maxBytes} bytes`);
    const text = readFileSync(handle, "utf8").trim();
    if (!text) throw new AppError("INVALID_INPUT", `${label}: ${path} is empty`);
    return text;
  } catch (error) {
    throw fileError(path, `could not read ${label}`, error);
  } finally {
    if (handle !== undefined) closeSync(handle);
  }
}

export const readSecretFile = async (path: string, label = "secret file", options?: SecretFileOptions): Promise<string> =>
  readSecretFileSync(path, label, options);

export type SecretFileResult =
  | { status: "available"; value: string }
  | { status: "configured_unavailable"; diagnostic: { path: string; configPath?: string | undefined; message: string } };

/** The same as a result. Without the last argument older callers get the text, or nothing. */
export function tryReadSecretFileSync(
  path: string | undefined,
  label: string,
  options: SecretFileOptions | undefined,
  place: { readonly configPath?: string | undefined },
): SecretFileResult;
export function tryReadSecretFileSync(path: string | undefined, label: string, options?: SecretFileOptions): string | undefined;
export function tryReadSecretFileSync(
  path: string | undefined,
  label: string,
  options?: SecretFileOptions,
  place?: { readonly configPath?: string | undefined },
): SecretFileResult | string | undefined {
  const file = path?.trim() ?? "";
  try {
    const value = readSecretFileSync(file, label, options);
    return place ? { status: "available", value } : value;
  } catch (error) {
    return place ? { status: "configured_unavailable", diagnostic: { path: file, configPath: place.configPath, message: messageOf(error) } } : undefined;
  }
}

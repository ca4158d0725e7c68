import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import type { Io } from "../../io.ts";

export const PASSPHRASE_OPTION = { type: "string", value: "file", help: "the passphrase of an encrypted backup, from this file" } as const;

/** The first line of the file, without its end. A passphrase on the command line would be seen by every program. */
export function passphraseFrom(io: Io, given: string | undefined): string | undefined {
  if (given === undefined) return undefined;
  const path = resolve(io.cwd, given);
  let text: string;
  try {
    text = readFileSync(path, "utf8");
    if ((statSync(path).mode & 0o077) !== 0) io.err(`${path} can be read by other users; make it private with: chmod 600 ${given}\n`);
  } catch (error) {
    throw fileError(path, "could not read the passphrase", error);
  }
  const passphrase = text.split(/\r?\n/, 1)[0]!;
  if (passphrase === "") throw new AppError("INVALID_INPUT", `${path}: expected a passphrase in the first line, and it is empty`);
  return passphrase;
}

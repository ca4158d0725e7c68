/** Programs on this machine. */
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export type Env = Readonly<Record<string, string | undefined>>;

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of a program that PATH or an absolute name leads to. */
export function findProgram(name: string, env: Env): string | undefined {
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  return (env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

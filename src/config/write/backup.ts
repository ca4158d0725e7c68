import { renameSync } from "node:fs";
import { systemCode } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";

/** Earlier versions that are kept: `.bak` is the newest, then `.bak.1` to `.bak.4`. */
const KEPT = 5;

/** Keeps `content` as the newest backup of `path` and lets the oldest go. */
export function keepBackup(path: string, content: string | Uint8Array, ids: Ids): void {
  const name = (age: number): string => (age === 0 ? `${path}.bak` : `${path}.bak.${age}`);
  for (let age = KEPT - 2; age >= 0; age -= 1) {
    try {
      renameSync(name(age), name(age + 1));
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
  writeAtomic(name(0), content, { mode: 0o600, temporary: temporaryName(name(0), ids) });
}

export function temporaryName(path: string, ids: Ids): string {
  return `${path}.${process.pid}.${ids.uuid()}.tmp`;
}

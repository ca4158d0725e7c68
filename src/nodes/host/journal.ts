import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";

/** Ids of invokes that began something: what an earlier process began is not begun again. */
export interface InvokeJournal {
  /** True when an earlier process began it. */
  wasBegun(id: string): boolean;
  /** On disk before it returns. */
  begin(id: string): void;
}

const MOST_IDS = 5000;
const ID = /^[\w-]{1,100}$/;

export function openInvokeJournal(path: string): InvokeJournal {
  ensureFolder(dirname(path));
  const former = load(path);
  // What is left of the file after a kill, and what is too old, goes.
  writeAtomic(path, former.map((id) => `${id}\n`).join(""), { mode: 0o600, temporary: `${path}.${process.pid}.new` });
  const begun = new Set(former);
  return {
    wasBegun: (id) => begun.has(id),
    begin: (id) => appendFileSync(path, `${id}\n`, { mode: 0o600, flush: true }),
  };
}

function load(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => ID.test(line))
      .slice(-MOST_IDS);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

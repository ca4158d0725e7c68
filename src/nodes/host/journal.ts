import { appendFileSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";

/** Ids of invokes that began something, so that nothing is begun twice. */
export interface InvokeJournal {
  /** Whether an earlier process began it, or this one; undefined for neither. */
  begunBy(id: string): "before" | "now" | undefined;
  /** On disk before it returns. */
  begin(id: string): void;
}

/** The last ids count; the file has at most twice as many. */
const MOST_IDS = 5000;
const ID = /^[\w-]{1,100}$/;

export function openInvokeJournal(path: string, most = MOST_IDS): InvokeJournal {
  ensureFolder(dirname(path));
  const begun = new Map<string, "before" | "now">(load(path, most).map((id) => [id, "before"]));
  let lines = 0;

  /** What is left of a line after a kill, and what is too old, goes. */
  function rewrite(): void {
    for (const id of begun.keys()) {
      if (begun.size <= most) break;
      begun.delete(id);
    }
    writeAtomic(path, [...begun.keys()].map((id) => `${id}\n`).join(""), { mode: 0o600, temporary: `${path}.${process.pid}.new` });
    lines = begun.size;
  }

  rewrite();
  return {
    begunBy: (id) => begun.get(id),
    begin(id) {
      begun.set(id, "now");
      if (lines >= 2 * most) return rewrite();
      appendFileSync(path, `${id}\n`, { mode: 0o600, flush: true });
      lines += 1;
    },
  };
}

function load(path: string, most: number): readonly string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => ID.test(line))
      .slice(-most);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

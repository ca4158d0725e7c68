import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import type { Config, LocatedIssue, Snapshot } from "../../../config/index.ts";
import type { MethodResult } from "../../../protocol/index.ts";

type Shown = MethodResult<"config.get">;

const issue = ({ path, message, line, column, file }: LocatedIssue) => ({ path, message, file, line, column });

/** Hash of the file as it is on disk; undefined when it cannot be read. */
function hashOnDisk(path: string): string | undefined {
  try {
    return existsSync(path) ? createHash("sha256").update(readFileSync(path)).digest("hex") : "";
  } catch {
    return undefined;
  }
}

/** The newest state of the file: one that changed since it was last looked at is read first. */
export function currentSnapshot(config: Config): Snapshot {
  const used = config.snapshot();
  const onDisk = hashOnDisk(used.path);
  return used.source === "last-good" || onDisk === undefined || onDisk !== used.hash ? config.reload() : used;
}

function legacyIssues({ legacy }: Snapshot): { path: string; message: string }[] {
  return legacy.map(({ from, to, note }) => ({ path: from, message: note || (to ? `${from} moved to ${to}` : `${from} is not used any more`) }));
}

/** The configuration as clients may see it. Of a broken file nothing but its issues is shown. */
export function shownConfig(config: Config): Shown {
  const snapshot = currentSnapshot(config);
  const facts = {
    path: snapshot.path,
    exists: snapshot.exists,
    valid: snapshot.valid,
    hash: snapshot.hash,
    issues: snapshot.issues.map(issue),
    warnings: snapshot.warnings.map(issue),
    legacyIssues: legacyIssues(snapshot),
  };
  if (!snapshot.valid) return { ...facts, raw: null, parsed: null, resolved: {}, config: {} };
  const { raw, parsed, resolved, config: shown } = config.shown();
  return { ...facts, raw, parsed: parsed ?? {}, resolved: resolved ?? {}, config: shown };
}

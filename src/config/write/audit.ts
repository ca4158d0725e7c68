import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { ensureFolder } from "../../base/files.ts";
import { diffPaths } from "../diff.ts";
import { sha256 } from "../sha256.ts";
import type { Snapshot } from "../snapshot.ts";
import { hasPath, valueAt } from "../value.ts";

export interface AuditEntry {
  readonly ts: string;
  readonly event: "config.write";
  readonly configPath: string;
  readonly pid: number;
  /** Who wrote: `cli`, a method's name, … */
  readonly by: string;
  readonly previousHash: string | null;
  readonly nextHash: string;
  readonly previousBytes: number | null;
  readonly nextBytes: number;
  readonly changedPathCount: number;
  readonly hasMetaBefore: boolean;
  readonly hasMetaAfter: boolean;
  readonly gatewayModeBefore: string | null;
  readonly gatewayModeAfter: string | null;
  readonly suspicious: readonly string[];
  readonly result: WriteResult;
}

export type WriteResult = "rename" | "copy-fallback" | "failed";

/** A write that shrinks a file of at least this many bytes to less than half is worth a look. */
const WATCHED_BYTES = 512;

export interface AuditInput {
  readonly before: Snapshot;
  readonly after: Snapshot;
  readonly nextText: string;
  readonly by: string;
  readonly now: number;
  readonly result: WriteResult;
}

export function auditEntry(input: AuditInput): AuditEntry {
  const { before, after, nextText } = input;
  const previousBytes = before.raw === null ? null : Buffer.byteLength(before.raw);
  const nextBytes = Buffer.byteLength(nextText);
  const hasMetaBefore = hasPath(before.resolved, ["meta"]);
  const mode = (snapshot: Snapshot): string | null => {
    const value = valueAt(snapshot.resolved, ["gateway", "mode"]);
    return typeof value === "string" ? value : null;
  };
  const suspicious: string[] = [];
  if (previousBytes !== null && previousBytes >= WATCHED_BYTES && nextBytes < previousBytes / 2) suspicious.push(`size-drop:${previousBytes}->${nextBytes}`);
  if (before.exists && !hasMetaBefore) suspicious.push("missing-meta-before-write");
  if (mode(before) !== null && mode(after) === null) suspicious.push("gateway-mode-removed");
  return {
    ts: new Date(input.now).toISOString(),
    event: "config.write",
    configPath: after.path,
    pid: process.pid,
    by: input.by,
    previousHash: before.hash === "" ? null : before.hash,
    nextHash: sha256(nextText),
    previousBytes,
    nextBytes,
    changedPathCount: diffPaths(before.resolved, after.resolved).length,
    hasMetaBefore,
    hasMetaAfter: hasPath(after.resolved, ["meta"]),
    gatewayModeBefore: mode(before),
    gatewayModeAfter: mode(after),
    suspicious,
    result: input.result,
  };
}

/** Adds the line to `<state>/logs/config-audit.jsonl`. A log that cannot be written does not undo the write it tells of. */
export function appendAudit(state: string, entry: AuditEntry, warn: (message: string) => void): void {
  try {
    const folder = join(state, "logs");
    ensureFolder(folder);
    appendFileSync(join(folder, "config-audit.jsonl"), `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  } catch (error) {
    warn(`the config write could not be logged: ${String(error)}`);
  }
}

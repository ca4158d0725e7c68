import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { StatementSync } from "node:sqlite";
import { isTranscriptFile } from "../projection/transcript-path.ts";
import type { TouchedSession } from "./import-changes.ts";

export interface FollowDeps {
  readonly sql: (text: string) => StatementSync;
  readonly stateDir: string;
  readonly now: () => number;
  /** Compares a transcript with its file and imports added lines. */
  readonly importLines: (file: string) => void;
}

/** Names of archived transcripts, by their former name. */
function archivedIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  try {
    for (const name of readdirSync(folder).sort()) {
      const live = /^(.+\.jsonl)\.(?:reset|deleted)\./.exec(name)?.[1];
      if (live !== undefined) found.set(live, name);
    }
  } catch {
    // The folder does not exist.
  }
  return found;
}

/** Updates the transcripts of sessions that another program used: imports added lines, and follows archived transcripts to their new names. */
export function* followTranscripts({ sql, stateDir, now, importLines }: FollowDeps, touched: readonly TouchedSession[]): Generator<void> {
  const folders = new Map<string, Map<string, string>>();
  for (const { agentId, sessionId } of touched) {
    for (const { tid, file } of sql("SELECT tid, file FROM transcripts WHERE agent_id = ? AND session_id = ? AND archived_at IS NULL").all(
      agentId,
      sessionId,
    )) {
      const live = String(file);
      if (existsSync(join(stateDir, live))) {
        importLines(live);
        continue;
      }
      const folder = dirname(live);
      if (!folders.has(folder)) folders.set(folder, archivedIn(join(stateDir, folder)));
      const name = folders.get(folder)!.get(basename(live));
      const archived = name === undefined ? undefined : `${folder}/${name}`;
      if (archived === undefined || !isTranscriptFile(archived)) continue;
      const { changes } = sql("UPDATE OR IGNORE transcripts SET file = ?, archived_at = ? WHERE tid = ?").run(archived, now(), Number(tid));
      if (Number(changes) > 0) importLines(archived);
    }
    yield;
  }
}

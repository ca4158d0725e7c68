import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { AppError } from "../../base/errors.ts";
import { isInside } from "../../base/files.ts";
import { isPathId, isTranscriptFile, transcriptFile } from "../projection/transcript-path.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import { isPrivateField } from "../private-fields.ts";
import { loadLooseJson } from "./loose-json.ts";
import { progressOf, recordProgress } from "./progress.ts";
import { agentKey, agentOf, currentKey } from "./session-key.ts";
import { sourceName } from "./sources.ts";
import { isRecord } from "../../base/records.ts";

/** One `sessions.json`. */
export interface IndexSource {
  readonly path: string;
  readonly agentId: string;
  readonly legacy: boolean;
  readonly stateDir: string;
  readonly now: () => number;
  readonly problem: (text: string) => void;
}

const text = (value: unknown): string | null => (typeof value === "string" ? value : null);

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** The name of a transcript below the state folder, or undefined when it is elsewhere. Links are followed up to the file's folder. */
function insideName(stateDir: string, path: string): string | undefined {
  const candidates = [
    [resolve(stateDir), path],
    [real(stateDir), join(real(dirname(path)), basename(path))],
  ] as const;
  const found = candidates.find(([root, file]) => isInside(root, file));
  const name = found && sourceName(...found);
  return name !== undefined && isTranscriptFile(name) ? name : undefined;
}

/**
 * Location of an entry's transcript from now on, relative to the state folder. If the folder was moved, the file is found beside the
 * index; a file outside stays there, is read once, and continues at the standard location.
 */
function transcriptLocation(db: DatabaseSync, source: IndexSource, agentId: string, sessionId: string, sessionFile: string): string {
  const path = isAbsolute(sessionFile) ? resolve(sessionFile) : resolve(dirname(source.path), sessionFile);
  const inside = insideName(source.stateDir, path);
  if (inside !== undefined) return inside;
  const beside = join(dirname(source.path), basename(path));
  const moved = existsSync(path) ? undefined : insideName(source.stateDir, beside);
  if (moved !== undefined && existsSync(beside)) return moved;
  const standard = transcriptFile(agentId, sessionId);
  const outside = statSync(path, { throwIfNoEntry: false });
  if (outside?.isFile() && path.endsWith(".jsonl") && !progressOf(db, path)) {
    source.problem(`the transcript ${path} lies outside of the state folder: it was read there, stays there, and continues in ${standard}`);
    recordProgress(db, path, outside, { state: "pending", detail: { file: standard, agentId, sessionId } }, source.now());
  }
  return standard;
}

/** An index at another location may have its transcripts beside it. */
function besideIndex(source: IndexSource, agentId: string, sessionId: string): string | undefined {
  const standard = join(source.stateDir, transcriptFile(agentId, sessionId));
  const beside = join(dirname(source.path), basename(standard));
  return beside !== standard && !source.legacy && existsSync(beside) && !existsSync(standard) ? beside : undefined;
}

export interface IndexRow {
  readonly key: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly updatedAt: number;
  readonly entry: SessionEntry;
}

/** An index entry as a session row; undefined, with a problem reported, when it is invalid. */
export function rowOf(db: DatabaseSync, source: IndexSource, oldKey: string, value: unknown, fallbackTime: number): IndexRow | undefined {
  if (!isRecord(value) || typeof value["sessionId"] !== "string") {
    source.problem(`the entry ${JSON.stringify(oldKey)} has no sessionId and was left out`);
    return undefined;
  }
  const key = currentKey(source.legacy ? agentKey(oldKey, source.agentId) : oldKey);
  const agentId = agentOf(key) ?? source.agentId;
  const sessionId = value["sessionId"];
  if (!isPathId(sessionId) || !isPathId(agentId)) {
    source.problem(`the entry ${JSON.stringify(oldKey)} has an id that cannot be a file name and was left out`);
    return undefined;
  }
  const updatedAt = typeof value["updatedAt"] === "number" && Number.isFinite(value["updatedAt"]) ? Math.trunc(value["updatedAt"]) : fallbackTime;
  const file = typeof value["sessionFile"] === "string" ? value["sessionFile"] : besideIndex(source, agentId, sessionId);
  const entry: SessionEntry = {
    ...Object.fromEntries(Object.entries(value).filter(([field]) => !isPrivateField(field))),
    sessionId,
    updatedAt,
    ...(typeof value["spawnedBy"] === "string" ? { spawnedBy: currentKey(value["spawnedBy"]) } : {}),
    ...(file === undefined ? {} : { sessionFile: transcriptLocation(db, source, agentId, sessionId, file) }),
  };
  return { key, agentId, sessionId, updatedAt, entry };
}

/** Imports one index, inside the caller's transaction. Returns the number of entries written. */
export function importIndex(db: DatabaseSync, source: IndexSource): number {
  const index = loadLooseJson(source.path);
  if (!isRecord(index)) throw new AppError("INVALID_INPUT", "expected an object of session keys");
  return importEntries(db, source, Object.entries(index));
}

/** Imports entries by session key, inside the caller's transaction; of two entries of a key the later one stays. Returns the number of entries written. */
export function importEntries(db: DatabaseSync, source: IndexSource, entries: Iterable<readonly [key: string, entry: unknown]>): number {
  const put = db.prepare(
    `INSERT INTO sessions (key, agent_id, session_id, updated_at, channel, chat_type, label, spawned_by, version, entry)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
     ON CONFLICT (key) DO UPDATE SET agent_id = excluded.agent_id, session_id = excluded.session_id, updated_at = excluded.updated_at,
       channel = excluded.channel, chat_type = excluded.chat_type, label = excluded.label, spawned_by = excluded.spawned_by,
       version = version + 1, entry = excluded.entry
     WHERE excluded.updated_at > updated_at`,
  );
  const fallbackTime = Math.trunc(statSync(source.path).mtimeMs);
  let written = 0;
  for (const [oldKey, value] of entries) {
    const row = rowOf(db, source, oldKey, value, fallbackTime);
    if (!row) continue;
    const { entry } = row;
    const columns = [text(entry["channel"]), text(entry["chatType"]), text(entry["label"]), text(entry["spawnedBy"])] as const;
    const { changes } = put.run(row.key, row.agentId, row.sessionId, row.updatedAt, ...columns, JSON.stringify(entry));
    written += Number(changes);
    if (Number(changes) === 0)
      source.problem(`the entry ${JSON.stringify(oldKey)} is older than another one of ${row.key} and was left out; its transcript is kept`);
  }
  return written;
}

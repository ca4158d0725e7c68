import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../base/errors.ts";
import { ensureFolder, isInside } from "../../base/files.ts";

/** The documented form of a session id; ids of agents and topics must match it, too. */
const ID = /^[a-z0-9][a-z0-9._-]{0,127}$/i;
const FILE = /^(?=.{1,255}$)[a-z0-9][a-z0-9._-]*\.jsonl(?:\.(?:reset|deleted)\.[a-z0-9.-]+)?$/i;
const FOLDER = /^(?!\.{1,2}$)[^\\/:\p{Cc}]{1,255}$/u;

/** True for an id that may become part of a path. */
export function isPathId(id: string): boolean {
  return ID.test(id);
}

/** True for a relative path with `/` that can only name a transcript, live or archived, below the folder it is joined to. */
export function isTranscriptFile(file: string): boolean {
  if (file.length > 1024) return false;
  const segments = file.split("/");
  return segments.every((segment, at) => (at < segments.length - 1 ? FOLDER : FILE).test(segment));
}

/** The documented location of a transcript, relative to the state folder. Telegram topics have a file of their own. */
export function transcriptFile(agentId: string, sessionId: string, threadId?: string): string {
  for (const id of [agentId, sessionId, ...(threadId === undefined ? [] : [threadId])]) {
    if (!ID.test(id)) {
      throw new AppError("INVALID_INPUT", `expected an id of 1 to 128 letters, digits, ".", "_" and "-", got ${JSON.stringify(id.slice(0, 140))}`);
    }
  }
  const topic = threadId === undefined ? "" : `-topic-${threadId}`;
  return `agents/${agentId}/sessions/${sessionId}${topic}.jsonl`;
}

/** The documented name of an archived transcript. */
export function archivedName(file: string, reason: "reset" | "deleted", at: number): string {
  return `${file}.${reason}.${new Date(at).toISOString().replaceAll(":", "-")}`;
}

/** The path of a transcript file, with its folder created. Refuses invalid names, and folders that a link leads out of the state folder. */
export function resolveFile(stateDir: string, file: string): string {
  if (!isTranscriptFile(file)) throw new AppError("INVALID_INPUT", `not the name of a transcript file: ${JSON.stringify(file.slice(0, 200))}`);
  const path = join(stateDir, file);
  const folder = dirname(path);
  ensureFolder(folder);
  if (!isInside(realpathSync(stateDir), realpathSync(folder))) {
    throw new AppError("PERMISSION_DENIED", `${folder} is a link out of the state folder; transcripts are not written there. Replace the link with a folder`);
  }
  return path;
}

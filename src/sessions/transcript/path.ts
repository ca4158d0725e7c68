import { isRecord } from "../../base/records.ts";
import { parseTranscriptLine, type TranscriptEntry, type TranscriptHeader } from "../../protocol/index.ts";
import type { EntryRow } from "../../store/index.ts";

/** A transcript file taken apart. */
export interface ReadTranscript {
  /** All of them: a file may have several, or none. */
  readonly headers: readonly TranscriptHeader[];
  readonly entries: readonly TranscriptEntry[];
  /** Lines that are no JSON object with a type. */
  readonly unreadable: number;
}

/** Reads whatever a transcript file holds, of any format so far. Never throws. */
export function readTranscript(text: string): ReadTranscript {
  const headers: TranscriptHeader[] = [];
  const entries: TranscriptEntry[] = [];
  let unreadable = 0;
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const read = parseTranscriptLine(line);
    if (!read) unreadable += 1;
    else if (read.kind === "header") headers.push(read.header);
    else entries.push(read.entry);
  }
  return { headers, entries, unreadable };
}

/** An entry of a stored row; undefined for a header and for what cannot be read. */
export function entryOfRow(row: Pick<EntryRow, "line">): TranscriptEntry | undefined {
  const read = parseTranscriptLine(row.line);
  return read?.kind === "entry" ? read.entry : undefined;
}

function isEntry(value: unknown): value is TranscriptEntry {
  return isRecord(value) && typeof value["type"] === "string" && value["type"] !== "session";
}

const idOf = (entry: TranscriptEntry): string | undefined => (typeof entry.id === "string" && entry.id !== "" ? entry.id : undefined);

/** Its parent's position in the file, or -1 at a root. Entries without an id or a parent come from files without a tree: there each follows the one before. */
function parentOf(entry: TranscriptEntry, at: number, positions: ReadonlyMap<string, number>): number {
  const { parentId } = entry;
  if (parentId === null) return -1;
  if (typeof parentId === "string") return positions.get(parentId) ?? -1;
  return at - 1;
}

/**
 * The way from the root to an entry (default: the last one in the file), in order. An id that is there twice means the later line; a circle or
 * an unknown parent ends the walk. Null, or an id that is not there, gives an empty way.
 */
export function readPath(entries: readonly unknown[], leafId?: string | null): readonly TranscriptEntry[] {
  if (leafId === null) return [];
  const known = entries.filter(isEntry);
  const positions = new Map<string, number>();
  for (const [at, entry] of known.entries()) {
    const id = idOf(entry);
    if (id !== undefined) positions.set(id, at);
  }
  const path: TranscriptEntry[] = [];
  const seen = new Set<number>();
  let at = leafId === undefined ? known.length - 1 : (positions.get(leafId) ?? -1);
  while (at >= 0 && !seen.has(at)) {
    seen.add(at);
    const entry = known[at];
    if (!entry) break;
    path.push(entry);
    at = parentOf(entry, at, positions);
  }
  return path.reverse();
}

/** The message of an entry, whatever it holds. */
function messageOf(entry: TranscriptEntry | undefined): Readonly<Record<string, unknown>> {
  const message = entry?.type === "message" ? entry["message"] : undefined;
  return isRecord(message) ? message : {};
}

/**
 * Where a new run hangs its first entry. A user message at the end was never answered, because its run died: the conversation goes on above it
 * and it stays in the file as a dead branch.
 */
export function leafForRun(path: readonly TranscriptEntry[]): string | null {
  const last = path.at(-1);
  return (messageOf(last)["role"] === "user" ? path.at(-2)?.id : last?.id) ?? null;
}

/** What the entries of a path say about how the session runs. */
export interface PathState {
  readonly model?: { readonly provider: string; readonly id: string };
  readonly thinkingLevel?: string;
}

/** The state after one more entry. An answer also names the model, unless the gateway wrote it. */
export function nextState(state: PathState, entry: TranscriptEntry): PathState {
  if (entry.type === "thinking_level_change") {
    const { thinkingLevel } = entry;
    return typeof thinkingLevel !== "string" || thinkingLevel === "" ? state : { ...state, thinkingLevel };
  }
  const message = messageOf(entry);
  const isChange = entry.type === "model_change";
  if (!isChange && message["role"] !== "assistant") return state;
  const provider = isChange ? entry["provider"] : message["provider"];
  const id = isChange ? entry["modelId"] : message["model"];
  if (typeof provider !== "string" || typeof id !== "string" || provider === "" || id === "" || provider === "openclaw") return state;
  return state.model?.provider === provider && state.model.id === id ? state : { ...state, model: { provider, id } };
}

export function pathState(path: readonly TranscriptEntry[]): PathState {
  let state: PathState = {};
  for (const entry of path) state = nextState(state, entry);
  return state;
}

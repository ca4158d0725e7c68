import { resolve } from "node:path";
import { createSpanFinder, createTextMatcher, eraseInJson, type TextMatcher } from "../../base/erase-text.ts";
import { shownText, type MessageText } from "../../base/message-text.ts";
import { isRecord } from "../../base/records.ts";
import { parseTranscriptLine } from "../../protocol/index.ts";
import type { ConversationRow, EntryRow, Inspection } from "../../store/index.ts";
import { wordsOf } from "../text/analyser.ts";
import { findNotes, readNote, type NoteRoots } from "./note-files.ts";
import type { Steps } from "./sync-notes.ts";
import { sessionPath } from "../types.ts";

export interface FindRequest {
  /** What a line or message contains, one of them. */
  readonly texts: readonly string[];
  /** Instead those that have all words of the first text. */
  readonly words?: boolean | undefined;
}

export interface FoundLine {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  /** The last one: a text may go on in the next lines. */
  readonly endLine: number;
  readonly text: string;
  /** Of its file. */
  readonly utf8: boolean;
}

export interface FoundEntry {
  /** The transcript, relative to the state folder. */
  readonly file: string;
  /** As it is cited. */
  readonly path: string;
  readonly seq: number;
  readonly id: string | null;
  readonly sessionId: string;
  readonly sessionKey: string | null;
  /** Of what a person or the assistant said; null for every other entry: results of tools, summaries. */
  readonly role: "user" | "assistant" | null;
  readonly at: string | null;
  readonly text: string;
}

export interface FoundTexts {
  readonly lines: readonly FoundLine[];
  readonly entries: readonly FoundEntry[];
}

const PAGE = 400;
const LISTED = 2000;
const MAX_FOUND = 20_000;

function matcherOf({ texts, words }: FindRequest): TextMatcher {
  if (!words) return createTextMatcher(texts);
  const all = wordsOf(texts[0] ?? "").map(({ word }) => createTextMatcher([word]));
  return (text) => all.length > 0 && all.every((matches) => matches(text));
}

export function entryOf(row: EntryRow, { file, sessionId, sessionKey }: ConversationRow, said: boolean): FoundEntry {
  const line = parseTranscriptLine(row.line);
  const entry = line?.kind === "entry" ? line.entry : undefined;
  const message = isRecord(entry?.["message"]) ? entry["message"] : undefined;
  const role = message?.["role"];
  const at = typeof entry?.timestamp === "string" ? entry.timestamp : null;
  return {
    file,
    path: sessionPath(file),
    seq: row.seq,
    id: row.id,
    sessionId,
    sessionKey,
    role: said && (role === "user" || role === "assistant") ? role : null,
    at,
    text: message ? shownText(message satisfies MessageText) : "",
  };
}

/** What a person or the assistant said in an entry, and whether that is what matches. */
function look(row: EntryRow, conversation: ConversationRow, matches: TextMatcher, words: boolean): FoundEntry | undefined {
  // The line as a whole first: it is cheaper, and most match nothing.
  if (!matches(row.line)) return undefined;
  const found = entryOf(row, conversation, true);
  if (found.role !== null && matches(found.text)) return found;
  if (words || eraseInJson(row.line, matches) === undefined) return undefined;
  return { ...found, role: null };
}

/** Every line of a note and every entry of a transcript that contains a text, deleted conversations too. */
export function* findTexts(request: FindRequest, roots: NoteRoots, store: Inspection | undefined, agentId: string): Steps<FoundTexts> {
  const matches = matcherOf(request);
  const spans = request.words
    ? (all: readonly string[]) => all.flatMap((line, index): [number, number][] => (matches(line) ? [[index, index]] : []))
    : createSpanFinder(request.texts);
  const lines: FoundLine[] = [];
  const entries: FoundEntry[] = [];
  for (const note of findNotes(roots, [])) {
    yield;
    const read = note ? readNote(resolve(note.file)) : undefined;
    if (!note || read?.kind !== "read") continue;
    const all = read.content.split("\n");
    for (const [first, last] of spans(all)) {
      if (lines.length >= MAX_FOUND) break;
      lines.push({ path: note.path, line: first + 1, endLine: last + 1, text: all.slice(first, last + 1).join("\n"), utf8: read.utf8 });
    }
  }
  if (store) yield* findEntries(store, agentId, matches, request.words === true, entries);
  return { lines, entries };
}

function* findEntries(store: Inspection, agentId: string, matches: TextMatcher, words: boolean, entries: FoundEntry[]): Steps {
  for (let after = 0; ;) {
    const page: readonly ConversationRow[] = store.read("transcripts.conversations", { agentId, after, limit: LISTED });
    for (const conversation of page) {
      for (let seq = 0; entries.length < MAX_FOUND;) {
        const rows = store.read("transcripts.page", { file: conversation.file, after: seq, limit: PAGE });
        for (const row of rows) {
          const found = look(row, conversation, matches, words);
          if (found) entries.push(found);
        }
        seq = rows.at(-1)?.seq ?? seq;
        yield;
        if (rows.length < PAGE) break;
      }
    }
    const last = page.at(-1);
    if (!last || page.length < LISTED) break;
    after = last.n;
  }
}

/** Words in messages, newest conversation first: what a person looks for who remembers how something was said. */
import type { Analyser, Word } from "../text/analyser.ts";
import { wordsOf } from "../text/analyser.ts";
import { languageOf, type Language } from "../text/languages.ts";
import { documentOf, MAX_POSITIONS, type IndexDatabase } from "../storage/database.ts";
import type { Passages, StoredPassage } from "../storage/passages.ts";
import { factsOf, type DocumentFacts } from "./present.ts";

export interface MessagesRequest {
  /** All of them are in a message; the last one may be the beginning of a word. */
  readonly words: string;
  /** Only in this session. */
  readonly sessionKey?: string | undefined;
  /** `next` of the page before. */
  readonly after?: string | undefined;
  readonly limit: number;
}

export interface FoundMessage {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly entryId: string;
  /** Position in its transcript. */
  readonly seq: number;
  /** Milliseconds since the epoch; 0 when unknown. */
  readonly ts: number;
  readonly role: "user" | "assistant";
  /** The part of the message in which the words are. */
  readonly text: string;
  /** Where they are in `text`: from, to. */
  readonly marks: readonly (readonly [from: number, to: number])[];
}

export interface FoundMessages {
  readonly messages: readonly FoundMessage[];
  /** There may be more. */
  readonly next?: string;
}

export interface MessagesDeps {
  readonly index: IndexDatabase;
  readonly passages: Passages;
  readonly analyser: Analyser;
  /** Whether the transcript still says so, on the branch in use. */
  readonly isTrue: (passage: StoredPassage, document: DocumentFacts) => boolean;
}

const MOST_WORDS = 16;
const MOST_CHARS = 500;
/** Messages with the words that are put in order. */
const MOST_FOUND = 50_000;
/** Messages that are looked at for one page: those of notes and of former transcripts are passed over. */
const MOST_LOOKED_AT = 2000;
/** A shorter beginning of a word fits too many. */
const LEAST_PREFIX = 3;
/** Messages that the words with a beginning may be in, before the beginning counts as a whole word. */
const MOST_PREFIXED = 100_000;

/** A word that is looked for, with what fits it in the index and in a text. */
interface Sought {
  readonly stems: readonly string[];
  /** The beginning of a word. */
  readonly prefix?: string;
}

const quoted = (term: string): string => `"${term.replaceAll('"', '""')}"`;

function soughtIn({ index, analyser }: MessagesDeps, text: string): readonly Sought[] {
  const words = wordsOf(text.slice(0, MOST_CHARS)).slice(0, MOST_WORDS);
  const language = languageOf(
    words.map(({ word }) => word),
    "en",
  );
  return words.map(({ word, end }, at) => {
    const stems = analyser.stems(word, language);
    const isOpen = at === words.length - 1 && end === text.trimEnd().length && !/\s$/.test(text) && word.length >= LEAST_PREFIX;
    return isOpen && isRare(index, word) ? { stems, prefix: word } : { stems };
  });
}

function isRare(index: IndexDatabase, prefix: string): boolean {
  const { n } =
    index.sql("SELECT coalesce(sum(n), 0) AS n FROM (SELECT n FROM terms WHERE term >= ? AND term < ? LIMIT 5000)").get(prefix, `${prefix}\u{10ffff}`) ?? {};
  return Number(n) <= MOST_PREFIXED;
}

const matchOf = (sought: readonly Sought[]): string =>
  `body : (${sought.map(({ stems, prefix }) => `(${[...stems.map(quoted), ...(prefix === undefined ? [] : [`${quoted(prefix)} *`])].join(" OR ")})`).join(" AND ")})`;

/** Characters of a message that are shown, and of them before the first word. */
const SHOWN = 240;
const BEFORE = 60;

function isSought(word: string, language: Language, sought: readonly Sought[], analyser: Analyser): boolean {
  const stem = analyser.stem(word, language);
  return sought.some(({ stems, prefix }) => stems.includes(stem) || stems.includes(word) || (prefix !== undefined && word.startsWith(prefix)));
}

/** The part of a text around the first of the words, with all of them marked. */
export function excerptOf(text: string, isMarked: (word: string) => boolean): Pick<FoundMessage, "text" | "marks"> {
  const words: readonly Word[] = wordsOf(text);
  const found = words.filter(({ word }) => isMarked(word));
  const first = found[0]?.start ?? 0;
  // Begins with a whole word.
  const wanted = Math.max(0, first - BEFORE);
  const from = wanted === 0 ? 0 : (words.find(({ start }) => start >= wanted)?.start ?? first);
  const to = Math.min(text.length, from + SHOWN);
  const shown = text.slice(from, to).toWellFormed().replaceAll(/\s/g, " ");
  const lead = from > 0 ? "…" : "";
  const marks = found
    .filter(({ start, end }) => start >= from && end <= to)
    .map(({ start, end }) => [start - from + lead.length, end - from + lead.length] as const);
  return { text: `${lead}${shown}${to < text.length ? "…" : ""}`, marks };
}

/** The numbers that passages of one session's transcript have; undefined when it is not indexed. */
function spanOf({ index }: MessagesDeps, sessionKey: string): { readonly from: number; readonly to: number } | undefined {
  const row = index
    .sql("SELECT id FROM documents WHERE source = 'sessions' AND session_key = ? AND path LIKE '%.jsonl' ORDER BY id DESC LIMIT 1")
    .get(sessionKey);
  const id = Number(row?.["id"]);
  return row ? { from: id * MAX_POSITIONS, to: (id + 1) * MAX_POSITIONS } : undefined;
}

/** Where a message stands among those that were found: conversations by their last message, and in each the newest first. */
interface Place {
  /** Time of the conversation's last message, in seconds. */
  readonly at: number;
  readonly id: number;
}

const nextOf = ({ at, id }: Place): string => `${at}.${id}`;
const isBehind = (place: Place, other: Place): boolean => place.at < other.at || (place.at === other.at && place.id < other.id);

function positionFrom(after: string | undefined): Place | undefined {
  const [at, id] = (after ?? "").split(".").map(Number);
  return Number.isSafeInteger(at) && Number.isSafeInteger(id) ? { at: at ?? 0, id: id ?? 0 } : undefined;
}

/** The places of messages with the words, in order. */
function* placesOf({ index }: MessagesDeps, match: string, span: { readonly from: number; readonly to: number }): Generator<Place> {
  const select = index.sql("SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?");
  select.setReturnArrays(true);
  const rows = select.all(match, span.from, span.to, MOST_FOUND) as unknown as readonly (readonly [number])[];
  const conversations: { readonly at: number; readonly ids: number[] }[] = [];
  const lastTime = index.sql("SELECT at FROM passages WHERE id < ? ORDER BY id DESC LIMIT 1");
  let [document, ids]: [number, number[]] = [-1, []];
  for (const [id] of rows) {
    if (documentOf(id) !== document) {
      document = documentOf(id);
      conversations.push({ at: Number(lastTime.get((document + 1) * MAX_POSITIONS)?.["at"] ?? 0), ids: (ids = []) });
    }
    ids.push(id);
  }
  conversations.sort((a, b) => b.at - a.at || (b.ids[0] ?? 0) - (a.ids[0] ?? 0));
  for (const one of conversations) for (const id of one.ids) yield { at: one.at, id };
}

/** Messages with all of the words. */
export function searchMessages(deps: MessagesDeps, { words, sessionKey, after, limit }: MessagesRequest): FoundMessages {
  const { index, passages, analyser, isTrue } = deps;
  const sought = soughtIn(deps, words);
  const span = sessionKey === undefined ? { from: 0, to: Number.MAX_SAFE_INTEGER } : spanOf(deps, sessionKey);
  if (sought.length === 0 || !span) return { messages: [] };
  const begin = positionFrom(after);
  const messages: FoundMessage[] = [];
  let looked = 0;
  for (const place of placesOf(deps, matchOf(sought), span)) {
    if (begin && !isBehind(place, begin)) continue;
    looked += 1;
    const passage = passages.get([place.id]).get(place.id);
    const found = passage && messageOf(passage, factsOf(index, documentOf(place.id)), isTrue);
    if (found) {
      const { language } = passage;
      messages.push({ ...found, ...excerptOf(passage.text, (word) => isSought(word, language, sought, analyser)) });
    }
    if (messages.length === limit || looked === MOST_LOOKED_AT) return { messages, next: nextOf(place) };
  }
  return { messages };
}

/** A message of a transcript that is in use; undefined for notes and for what was archived. */
function messageOf(
  passage: StoredPassage,
  document: DocumentFacts | undefined,
  isTrue: MessagesDeps["isTrue"],
): Omit<FoundMessage, "text" | "marks"> | undefined {
  const { entry, role, first, at } = passage;
  if (document?.source !== "sessions" || !document.path.endsWith(".jsonl") || entry === null || role === "note") return undefined;
  const { sessionKey, sessionId } = document;
  if (sessionKey === null || sessionId === null || !isTrue(passage, document)) return undefined;
  return { sessionKey, sessionId, entryId: entry, seq: first - 1, ts: (at ?? 0) * 1000, role };
}

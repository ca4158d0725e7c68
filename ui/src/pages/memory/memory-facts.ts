import { readableKey, type MethodResult } from "openclaw/client";
import { capital } from "../../base/capital.ts";
import { locale, t } from "../../words/words.ts";

export type Hit = MethodResult<"memory.search">["results"][number];
export type Answer = MethodResult<"memory.search">;
export type Note = MethodResult<"memory.notes.list">["notes"][number];
export type Status = MethodResult<"memory.status">["agents"][number];
export type Recall = MethodResult<"memory.recalls">["recalls"][number];

/** Notes below one heading of the list. */
export interface NoteGroup {
  readonly title: string;
  readonly notes: readonly Note[];
}

const FOLDER = "memory/";
const monthOf = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
const dayName = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short" });
/** At noon, so that it is the same day in every time zone. */
const noonOf = (day: string): Date => new Date(`${day}T12:00:00`);

/** The notes as the list shows them: long-term memory, days by month from the newest on, the others. */
export function groupsOf(notes: readonly Note[]): readonly NoteGroup[] {
  const groups = new Map<string, Note[]>();
  for (const note of notes) {
    const title = note.path.includes("/") ? (note.day === undefined ? t("Other notes") : monthOf.format(noonOf(note.day))) : t("Long-term memory");
    groups.set(title, [...(groups.get(title) ?? []), note]);
  }
  return [...groups].map(([title, members]) => ({ title, notes: members }));
}

/** What a note is called: its day, with what else its name says, or its path. */
export function noteName({ path, day }: Pick<Note, "path" | "day">): string {
  const name = path.startsWith(FOLDER) ? path.slice(FOLDER.length) : path;
  if (day === undefined) return name;
  const rest = (name.split("/").at(-1) ?? "").replace(day, "").replace(/\.md$/i, "").replaceAll(/[-_]+/g, " ").trim();
  const shown = dayName.format(noonOf(day));
  return rest === "" ? shown : `${shown}, ${rest}`;
}

/** The path of the note of a day in a time zone; in this browser's without one. */
export function notePathOf(now: Date, timeZone?: string): string {
  const day = (zone?: string): string => new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeZone: zone }).format(now);
  try {
    return `${FOLDER}${day(timeZone)}.md`;
  } catch {
    return `${FOLDER}${day()}.md`; // A zone that this browser does not know.
  }
}

/** True for files that can be read and changed on the page; others are indexed only. */
export const isNote = (path: string): boolean => /^(?:MEMORY\.md|memory\.md|memory\/.+\.md)$/i.test(path);

export type HitKind = "notes" | "days" | "chats";

export const kindOf = ({ source, path }: Pick<Hit, "source" | "path">): HitKind =>
  source === "sessions" ? "chats" : /(?:^|\/)\d{4}-\d{2}-\d{2}[^/]*$/.test(path) ? "days" : "notes";

/** `12` or `12–15`. */
const linesText = ({ startLine, endLine }: Pick<Hit, "startLine" | "endLine">): string =>
  startLine === endLine ? t`line ${startLine}` : t`lines ${startLine}–${endLine}`;

/** Where a passage stands: `MEMORY.md, lines 12–15`. */
export const placeText = (hit: Pick<Hit, "path" | "startLine" | "endLine">): string => `${hit.path}, ${linesText(hit)}`;

/** The name of a conversation, where one is known. */
export const sessionText = (sessionKey: string | undefined, titles: ReadonlyMap<string, string>): string =>
  sessionKey === undefined ? t("a past conversation") : (titles.get(sessionKey) ?? readableKey(sessionKey));

/** What a result is called: its heading or file, or who said it. */
export function hitTitle(hit: Hit, titles: ReadonlyMap<string, string>): string {
  if (hit.source === "memory") return hit.heading?.split(" › ").at(-1) || hit.path.split("/").at(-1) || hit.path;
  return t`${hit.role === "assistant" ? t("Assistant") : (hit.speaker ?? t("You"))} in ${sessionText(hit.sessionKey, titles)}`;
}

export const percent = (score: number): number => Math.round(Math.min(1, Math.max(0, score)) * 100);

const LIKELY: readonly (readonly [from: number, text: string])[] = [
  [0.7, t("Very likely")],
  [0.4, t("Likely")],
  [0.15, t("Possible")],
  [0, t("Unlikely")],
];

/** What a score means, in a word. */
export const scoreText = (score: number): string => LIKELY.find(([from]) => score >= from)?.[1] ?? t("Unlikely");

/** A passage as it is shown: without the marks of Markdown that only take space, and without the source that the tool adds for models. */
export function snippetText(snippet: string, heading = ""): string {
  const title = heading.split(" › ").at(-1);
  return snippet
    .replace(/\n+Source: \S+$/, "")
    .split("\n")
    .filter((line) => !/^[\s|:-]*$/.test(line) && line.replace(/^#+\s+/, "").trim() !== title)
    .map((line) => line.replace(/^#+\s+/, "").replace(/^(\s*)[-*+]\s+/, "$1• "))
    .join("\n");
}

export interface Reasons {
  readonly words: readonly string[];
  readonly related: readonly string[];
  readonly pro: readonly string[];
  readonly contra: readonly string[];
}

/** `word → stem` in words: the related word as it stands in the passage, with what it was found for. */
function relatedText(pair: string, snippet: string): string {
  const [word = pair, stem = ""] = pair.split(" → ");
  const written = snippet.split(/[^\p{L}\p{N}\p{M}]+/u).find((one) => stem !== "" && one.toLowerCase().startsWith(stem));
  return t`${written ?? stem} (for ${word})`;
}

/** What put a result there, apart by what speaks for it and what speaks against it. */
export function reasonsIn({ why, reasons = [], snippet }: Pick<Hit, "why" | "reasons" | "snippet">): Reasons {
  const rest = reasons.filter((reason) => !/^\+ (?:similar )?words(?: of its heading or speaker)?: /.test(reason));
  const those = (mark: string): readonly string[] => rest.filter((reason) => reason.startsWith(mark)).map((reason) => capital(reason.slice(mark.length)));
  return {
    words: [...(why?.words ?? []), ...(why?.about ?? [])],
    related: (why?.related ?? []).map((pair) => relatedText(pair, snippet)),
    pro: those("+ "),
    contra: those("− "),
  };
}

/** A citation such as `memory/a.md#L1-L2`, apart. */
export function citedOf(citation: string): Pick<Hit, "path" | "startLine" | "endLine"> {
  const [, path = citation, first = "1", last = first] = /^(.*)#L(\d+)(?:-L?(\d+))?$/.exec(citation) ?? [];
  return { path, startLine: Number(first), endLine: Number(last) };
}

/** The note to show where the address names none: the one before, while it is there or someone writes in it; else the first. Lists lack a note for a moment while it is rewritten. */
export const noteToShow = (notes: readonly Pick<Note, "path">[], before: string | undefined, isEdited: boolean): string | undefined =>
  before !== undefined && (isEdited || notes.some(({ path }) => path === before)) ? before : notes[0]?.path;

/** Filters of what was found. */
export const KINDS: readonly (readonly [kind: HitKind | "", text: string])[] = [
  ["", t("All")],
  ["notes", t("Notes")],
  ["days", t("Days")],
  ["chats", t("Chats")],
];

/** Settings and short questions that stand anywhere in a text. */
import { isOurName } from "../../../channels/index.ts";
import type { ThinkingLevel } from "../../../protocol/index.ts";
import type { ElevatedLevel, ReasoningLevel, VerboseLevel } from "../../../sessions/index.ts";
import { readElevated, readReasoning, readThinking, readVerbose } from "./levels.ts";
import { readExec, readQueue, type ExecChange, type QueueChange, type ReadOptions } from "./options.ts";

/** A value, the word that is none, or neither. */
interface Level<T> {
  readonly value?: T;
  readonly word?: string;
}

/** What is asked for in a text. Of several of one kind the last counts. */
export interface Directives {
  readonly think?: Level<ThinkingLevel>;
  readonly verbose?: Level<VerboseLevel>;
  readonly reasoning?: Level<ReasoningLevel>;
  readonly elevated?: Level<ElevatedLevel>;
  readonly exec?: ReadOptions<ExecChange>;
  readonly model?: Level<string>;
  readonly queue?: ReadOptions<QueueChange>;
  readonly shortcuts: readonly Shortcut[];
}

export type Shortcut = "help" | "commands" | "status" | "whoami";

export interface ScanOptions {
  readonly botUsername?: string | undefined;
  /** Whether a bare word names a model, so that it is not left in the text. */
  readonly isModel?: ((word: string) => boolean) | undefined;
  /** Questions stay in the text. */
  readonly keepShortcuts?: boolean | undefined;
}

export interface Scanned {
  readonly directives: Directives;
  /** How many there were. */
  readonly count: number;
  /** What is left. Scanning it again finds nothing. The text itself when nothing was found. */
  readonly rest: string;
  /** The text holds nothing else, or only words that are no value where one is expected. */
  readonly alone: boolean;
}

/** Longer texts and texts with more of them are nobody's settings: they stay as they are. */
const MOST_CHARS = 32_768;
const MOST_FOUND = 64;

const NAME = /\/([a-z]{1,9})(?:@(\w{1,64}))?(?=$|[\s:])/iy;
const COLON = /[ \t]*:(?=[\s\w/]|$)/y;
const VALUE = /\s*([a-z0-9][\w+-]{0,31})(?![\w+-])/iy;
const MODEL = /\s*([a-z0-9][\w.:@/+-]{0,199})(?=\s|$)/iy;

type Kind = "think" | "verbose" | "reasoning" | "elevated" | "exec" | "model" | "queue" | Shortcut;
const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ...(["think", "verbose", "reasoning", "elevated", "exec", "model", "queue", "help", "commands", "status", "whoami"] as const).map(
    (kind) => [kind, kind] as const,
  ),
  ["thinking", "think"],
  ["t", "think"],
  ["v", "verbose"],
  ["reason", "reasoning"],
  ["elev", "elevated"],
  ["id", "whoami"],
]);
const LEVELS = { think: readThinking, verbose: readVerbose, reasoning: readReasoning, elevated: readElevated } as const;
const MODEL_WORDS: ReadonlySet<string> = new Set(["list", "status", "default"]);

interface Span {
  readonly start: number;
  readonly end: number;
}
/** `stray`: a word behind it that is no value. */
type Found = Span & { readonly kind: Kind; readonly value?: unknown; readonly stray?: Span };

const NONE: Directives = { shortcuts: [] };

/** Finds them in one pass from the left. */
export function scanDirectives(text: string, options: ScanOptions = {}): Scanned {
  const nothing: Scanned = { directives: NONE, count: 0, rest: text, alone: false };
  if (text.length > MOST_CHARS) return nothing;
  const found: Found[] = [];
  let edge = 0;
  for (let at = text.indexOf("/"); at >= 0; at = text.indexOf("/", at)) {
    const one = at === edge || isBlank(text, at - 1) ? readAt(text, at, options) : undefined;
    if (one) found.push(one);
    if (found.length > MOST_FOUND) return nothing;
    at = one ? (edge = one.end) : at + 1;
  }
  if (found.length === 0) return nothing;
  const rest = without(text, found);
  const strays = found.flatMap(({ stray }) => stray ?? []);
  const alone =
    rest === "" ||
    (strays.length > 0 &&
      without(
        text,
        [...found, ...strays].sort((a, b) => a.start - b.start),
      ) === "");
  return { directives: collect(found, text, alone), count: found.length, rest, alone };
}

const isBlank = (text: string, at: number): boolean => /\s/.test(text.charAt(at));

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readAt(text: string, start: number, { botUsername, isModel, keepShortcuts }: ScanOptions): Found | undefined {
  const [head, name = "", bot] = match(NAME, text, start) ?? [];
  const kind = KINDS.get(name.toLowerCase());
  if (head === undefined || !kind || (bot !== undefined && !isOurName(bot, botUsername))) return undefined;
  const plain = start + head.length;
  const end = plain + (match(COLON, text, plain)?.[0].length ?? 0);
  if (kind === "exec" || kind === "queue") {
    const value = kind === "exec" ? readExec(text, end) : readQueue(text, end);
    return { kind, start, end: value.end, value };
  }
  if (kind === "model") return readValue({ kind, start, end }, match(MODEL, text, end), (word) => modelWord(word, isModel));
  if (kind in LEVELS) return readValue({ kind, start, end }, match(VALUE, text, end), LEVELS[kind as keyof typeof LEVELS]);
  return keepShortcuts ? undefined : { kind, start, end };
}

function modelWord(word: string, isModel: ScanOptions["isModel"]): string | undefined {
  return /[/\d]/.test(word) || MODEL_WORDS.has(word.toLowerCase()) || isModel?.(word) ? word : undefined;
}

function readValue(found: Found, word: RegExpExecArray | null, read: (word: string) => unknown): Found {
  const [whole, written = ""] = word ?? [];
  if (whole === undefined) return found;
  const value = read(written);
  const end = found.end + whole.length;
  return value === undefined ? { ...found, stray: { start: end - written.length, end } } : { ...found, end, value };
}

/** The text around what was found; where something was taken out of a line, one blank is left. */
function without(text: string, spans: readonly Span[]): string {
  let rest = "";
  let at = 0;
  for (const { start, end } of spans) {
    rest = joined(rest, text.slice(at, Math.max(at, start)));
    at = Math.max(at, end);
  }
  return joined(rest, text.slice(at)).trim();
}

function joined(left: string, right: string): string {
  const before = left.trimEnd();
  const after = right.trimStart();
  if (before === "") return right.trim() === "" ? "" : after;
  if (after === "") return before;
  const gap = left.slice(before.length) + right.slice(0, right.length - after.length);
  return `${before}${gap.includes("\n") ? "\n" : " "}${after}`;
}

function collect(found: readonly Found[], text: string, alone: boolean): Directives {
  const directives: Record<string, unknown> = {};
  const shortcuts = new Set<Shortcut>();
  for (const { kind, value, stray } of found) {
    if (kind === "exec" || kind === "queue") directives[kind] = value;
    else if (kind === "model" || kind in LEVELS) directives[kind] = levelOf(value, alone && stray ? text.slice(stray.start, stray.end) : undefined);
    else shortcuts.add(kind as Shortcut);
  }
  return { ...directives, shortcuts: [...shortcuts] };
}

function levelOf(value: unknown, word: string | undefined): Level<unknown> {
  return { ...(value === undefined ? {} : { value }), ...(word === undefined ? {} : { word }) };
}

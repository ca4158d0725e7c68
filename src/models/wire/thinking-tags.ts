import type { AssistantMessage } from "../../protocol/index.ts";
import type { ModelEvent } from "./format.ts";

/** A piece of a model's text. */
export interface TaggedPiece {
  /** `closed`: everything before was a thought, though nothing marked its start. */
  readonly type: "text" | "thinking" | "closed";
  readonly text: string;
}

/** Separates thoughts between tags from the rest of a model's text, while it streams. */
export interface ThinkingTags {
  push(delta: string): readonly TaggedPiece[];
  /** The text that was held back. Called once, at the end. */
  end(): readonly TaggedPiece[];
}

const NAMES = ["think", "thinking", "thought", "antthinking"];
const NAME = NAMES.join("|");
/** As in `<think foo="1">`. */
const ATTRIBUTES = "(?:\\s[^<>]{0,200})?";
const OPEN = new RegExp(`^<\\s*(?:${NAME})${ATTRIBUTES}\\s*>`, "i");
const CLOSE = new RegExp(`^<\\s*/\\s*(?:${NAME})\\s*>`, "i");
const FINAL = /^<\s*\/?\s*final\s*>/i;
/** A tag that may continue in the next chunk. */
const UNFINISHED = /^<\s*(\/?)\s*([a-z]*)(\s[^<>]*)?$/i;
/** Longest tag that is waited for, blanks included. */
const MOST_HELD = 256;
/** Longest code within a line, and longest first line of a fence, that is waited for. */
const MOST_CODE = 400;
/** Backquotes, line ends, what may be a tag, and everything between. */
const WORD = /`+|\n|<|[^`\n<]+/y;
/** What may precede a fence or a text in a line: blanks, and quote marks. */
const PREFIX = /(?:[ \t]*>)*[ \t]*/y;
const FENCE = /`+|~+/y;

/** Code is quoted, so tags in it are content: fences, indented lines, and backquotes within a line. */
interface Code {
  fence: { readonly run: string; readonly quoted: boolean } | undefined;
  /** This line is indented and follows an empty one, or another such line. */
  indented: boolean;
  emptyBefore: boolean;
  /** The next character is the first of a line. */
  lineStart: boolean;
  /** Only blanks of this line were shown so far. */
  blank: boolean;
}

function isUnfinished(rest: string): boolean {
  const found = UNFINISHED.exec(rest);
  if (!found || rest.length >= MOST_HELD) return false;
  const [, , written = "", attributes] = found;
  const name = written.toLowerCase();
  return attributes?.trim() ? NAMES.includes(name) : [...NAMES, "final"].some((known) => known.startsWith(name));
}

const count = (text: string, tag: string): number => text.match(new RegExp(`<\\s*${tag}\\s*(?:${NAME})${ATTRIBUTES}\\s*>`, "gi"))?.length ?? 0;

/** Two backquotes may be unrelated: a thought that starts between them and ends after them is still a thought. */
function isCode(span: string): boolean {
  const opened = count(span, "");
  return opened === 0 || opened === count(span, "/") || (OPEN.exec(span.trim())?.[0].length ?? -1) === span.trim().length;
}

/** Length of the inline code that starts here: 0 when there is none, undefined when it is not known yet. */
function codeAt(text: string, at: number, isEnd: boolean): number | undefined {
  const run = runAt(text, at);
  const lineEnd = text.indexOf("\n", at);
  const line = text.slice(at + run.length, Math.min(lineEnd < 0 ? text.length : lineEnd, at + run.length + MOST_CODE));
  const isCut = !isEnd && lineEnd < 0 && line.length < MOST_CODE;
  for (const { 0: other, index } of line.matchAll(/`+/g)) {
    if (other.length !== run.length) continue;
    // It may continue, and become another one.
    if (isCut && index + other.length === line.length) return undefined;
    return isCode(line.slice(0, index)) ? run.length + index + other.length : 0;
  }
  return isCut ? undefined : 0;
}

/** The run of backquotes or tildes at this position. */
function runAt(text: string, at: number): string {
  FENCE.lastIndex = at;
  return FENCE.exec(text)?.[0] ?? "";
}

/**
 * Reads the start of a line: how many characters of it are shown unchanged, a fence with its whole line. Undefined when it is not known
 * yet.
 */
function lineBeginning(code: Code, text: string, at: number, isEnd: boolean, spoke: boolean): number | undefined {
  PREFIX.lastIndex = at;
  const [prefix] = PREFIX.exec(text) ?? [""];
  const end = at + prefix.length;
  if (end === text.length && !isEnd && prefix.length < MOST_HELD) return undefined;
  const quoted = prefix.includes(">");
  if (text[end] === "\n") {
    if (!quoted && code.fence?.quoted === true) code.fence = undefined;
    code.emptyBefore = !quoted;
    return prefix.length + 1;
  }
  const run = runAt(text, end);
  if (run !== "" && end + run.length === text.length && !isEnd) return undefined;
  if (run.length >= 3) {
    const lineEnd = text.indexOf("\n", end);
    if (lineEnd < 0 && !isEnd && text.length - end < MOST_CODE) return undefined;
    const rest = text.slice(end + run.length, lineEnd < 0 ? text.length : lineEnd);
    const closes = code.fence && run[0] === code.fence.run[0] && run.length >= code.fence.run.length && rest.trim() === "";
    const opens = !code.fence && !(run.startsWith("`") && rest.includes("`"));
    if (closes || opens) {
      code.fence = closes ? undefined : { run, quoted };
      code.lineStart = lineEnd >= 0;
      code.indented = false;
      return (lineEnd < 0 ? text.length : lineEnd + 1) - at;
    }
  }
  if (!quoted && code.fence?.quoted === true) code.fence = undefined;
  code.indented = spoke && !quoted && /^(?: {4}|\t)/.test(prefix) && (code.emptyBefore || code.indented);
  code.emptyBefore = false;
  code.lineStart = false;
  return prefix.length;
}

/** State of reading a text. */
interface State {
  /** Nesting depth of open thoughts. */
  depth: number;
  /** Text after the end of an inner thought: part of the outer one, or the answer when that never ends. */
  afterInner: string | undefined;
  hadThought: boolean;
  spoke: boolean;
  final: boolean;
  /** The thought that the text is taken to begin in, as it came; undefined where it begins outside, or since it was closed. */
  assumed: string | undefined;
  /** Blanks around tags are layout. */
  trims: boolean;
  /** The character before the current position. */
  before: string;
  readonly code: Code;
}

function add(out: TaggedPiece[], type: "text" | "thinking", text: string): void {
  const last = out.at(-1);
  if (last?.type === type) out[out.length - 1] = { type, text: last.text + text };
  else out.push({ type, text });
}

function shown(state: State, text: string, out: TaggedPiece[]): void {
  if (state.assumed !== undefined) state.assumed += text;
  const rest = state.trims ? text.trimStart() : text;
  if (rest === "") return;
  state.trims = false;
  if (state.depth > 0) {
    if (state.afterInner === undefined) add(out, "thinking", rest);
    else state.afterInner += rest;
    return;
  }
  if (rest.trim() !== "") state.spoke = true;
  state.code.blank = rest.endsWith("\n") || (state.code.blank && rest.trim() === "");
  add(out, "text", rest);
}

function tagInThought(state: State, rest: string, out: TaggedPiece[]): number | undefined {
  const [opened] = OPEN.exec(rest) ?? [];
  // The thought that was taken for begun begins with its tag after all.
  if (opened !== undefined && state.assumed?.trim() === "") return opened.length;
  // A tag that is mentioned is not a tag.
  if (opened !== undefined && !/[`"']/.test(state.before)) {
    state.depth += 1;
    return opened.length;
  }
  const [closed] = CLOSE.exec(rest) ?? [];
  if (closed === undefined) return undefined;
  if (state.afterInner) add(out, "thinking", state.afterInner);
  state.depth -= 1;
  if (state.depth === 0) state.assumed = undefined;
  state.afterInner = state.depth > 0 ? "" : undefined;
  state.trims = state.depth > 0 || !state.spoke;
  state.code.lineStart = state.code.blank;
  return closed.length;
}

/** Consumes the tag at this position; returns its length, or undefined when there is none. */
function tagAt(state: State, rest: string, out: TaggedPiece[]): number | undefined {
  if (state.depth > 0) return tagInThought(state, rest, out);
  if (state.code.fence !== undefined || state.code.indented) return undefined;
  const [opened] = OPEN.exec(rest) ?? [];
  if (opened !== undefined) {
    state.depth = 1;
    state.hadThought = true;
    state.trims = true;
    return opened.length;
  }
  const [closed] = CLOSE.exec(rest) ?? [];
  if (closed !== undefined && !state.hadThought) {
    // Servers whose template opens the thought let the answer start inside it: only its end is visible.
    state.hadThought = true;
    state.trims = true;
    out.push({ type: "closed", text: "" });
    return closed.length;
  }
  const [around] = FINAL.exec(rest) ?? [];
  if (around === undefined || (around.includes("/") ? !state.final : state.spoke)) return undefined;
  state.final = true;
  state.trims ||= !state.spoke;
  return around.length;
}

/** Number of characters from here on that are shown unchanged; 0 for a consumed tag; undefined when more text is needed. */
function step(state: State, text: string, at: number, isEnd: boolean, out: TaggedPiece[]): { readonly take: number; readonly show: boolean } | undefined {
  if (state.depth === 0 && state.code.lineStart) {
    const take = lineBeginning(state.code, text, at, isEnd, state.spoke);
    return take === undefined ? undefined : { take, show: true };
  }
  WORD.lastIndex = at;
  const [word] = WORD.exec(text) ?? [text.slice(at)];
  if (word === "<") {
    const rest = text.slice(at, at + MOST_HELD);
    const tag = tagAt(state, rest, out);
    if (tag !== undefined) return { take: tag, show: false };
    return !isEnd && at + rest.length === text.length && isUnfinished(rest) ? undefined : { take: 1, show: true };
  }
  if (word === "\n") state.code.lineStart = true;
  if (!word.startsWith("`") || state.depth > 0 || state.code.fence !== undefined || state.code.indented) return { take: word.length, show: true };
  if (!isEnd && at + word.length === text.length) return undefined;
  const take = codeAt(text, at, isEnd);
  return take === undefined ? undefined : { take: take || word.length, show: true };
}

/** `isInside`: the text begins inside a thought, unless nothing ever closes that. */
export function createThinkingTags(isInside = false): ThinkingTags {
  const code: Code = { fence: undefined, indented: false, emptyBefore: false, lineStart: true, blank: true };
  const state: State = {
    depth: isInside ? 1 : 0,
    assumed: isInside ? "" : undefined,
    afterInner: undefined,
    hadThought: isInside,
    spoke: false,
    final: false,
    trims: isInside,
    before: "",
    code,
  };
  let held = "";

  function read(delta: string, isEnd = false): readonly TaggedPiece[] {
    const text = held + delta;
    const out: TaggedPiece[] = [];
    let at = 0;
    while (at < text.length) {
      const next = step(state, text, at, isEnd, out);
      if (!next) break;
      if (next.show) shown(state, text.slice(at, at + next.take), out);
      at += next.take;
      state.before = text.charAt(at - 1);
    }
    held = text.slice(at);
    return out;
  }

  return {
    push: read,
    end() {
      const out = [...read("", true)];
      if (state.assumed?.trim()) out.push({ type: "text", text: state.assumed });
      else if (state.depth > 0 && state.afterInner) out.push({ type: "text", text: state.afterInner });
      return out;
    },
  };
}

const MAY_BE_TAGGED = new RegExp(`<\\s*/?\\s*(?:${NAME}|final)${ATTRIBUTES}\\s*>`, "i");

/** The pieces of a finished text. While it streams, a thought with only an end tag cannot be distinguished from text. */
function piecesOf(text: string): readonly TaggedPiece[] {
  const tags = createThinkingTags();
  const pieces: TaggedPiece[] = [];
  for (const piece of [...tags.push(text), ...tags.end()]) {
    const last = pieces.at(-1);
    if (piece.type === "closed") {
      const thought = pieces.map((before) => before.text).join("");
      pieces.splice(0, pieces.length, { type: "thinking", text: thought.trim() });
    } else if (last?.type === piece.type) pieces[pieces.length - 1] = { ...piece, text: last.text + piece.text };
    else pieces.push(piece);
  }
  return pieces;
}

/** Converts thoughts between tags; returns the same message when it has none. */
export function untagged(message: AssistantMessage): AssistantMessage {
  if (!message.content.some((part) => part.type === "text" && MAY_BE_TAGGED.test(part.text))) return message;
  const content = message.content.flatMap((part): AssistantMessage["content"] => {
    if (part.type !== "text" || !MAY_BE_TAGGED.test(part.text)) return [part];
    const pieces = piecesOf(part.text);
    if (pieces.length === 1 && pieces.every(({ type, text }) => type === "text" && text === part.text)) return [part];
    return pieces
      .filter(({ text }) => text.trim() !== "")
      .map(({ type, text }) => (type === "text" ? { type, text } : { type: "thinking", thinking: text.trimEnd() }));
  });
  return { ...message, content };
}

/** Models whose last answers began inside a thought. */
type BegunThoughts = Pick<Set<string>, "has" | "add" | "delete">;

/**
 * A streamed answer, with thoughts between tags converted. Where only the end of a thought is marked, the text before it is taken back when that
 * comes; of models that did so before, nothing is shown as text until it has come.
 */
export async function* withoutThinkingTags(
  events: AsyncIterable<ModelEvent>,
  model = "",
  begun: BegunThoughts = new Set(),
): AsyncGenerator<ModelEvent, void, void> {
  let open: { readonly index: number; readonly tags: ThinkingTags } | undefined;
  let isInside = begun.has(model);
  const toEvents = (pieces: readonly TaggedPiece[], index: number): readonly ModelEvent[] =>
    pieces.map(({ type, text }) => {
      if (type !== "closed") return { type, index, delta: text };
      begun.add(model);
      return { type: "retract", index };
    });
  for await (const event of events) {
    if (event.type === "text") {
      if (open && open.index !== event.index) yield* toEvents(open.tags.end(), open.index);
      if (open?.index !== event.index) open = { index: event.index, tags: createThinkingTags(isInside) };
      isInside = false;
      yield* toEvents(open.tags.push(event.delta), event.index);
      continue;
    }
    if (open && event.type !== "thinking") {
      yield* toEvents(open.tags.end(), open.index);
      open = undefined;
    }
    if (event.type !== "end") {
      yield event;
      continue;
    }
    const message = untagged(event.message);
    // It did not think, or does not do so any more: the next answer is shown as it comes.
    if (message === event.message) begun.delete(model);
    yield { ...event, message };
  }
}

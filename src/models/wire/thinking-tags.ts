import type { AssistantMessage } from "../../protocol/index.ts";
import type { ModelEvent } from "./format.ts";

/** A piece of what a model wrote as text. */
export interface TaggedPiece {
  readonly type: "text" | "thinking";
  readonly text: string;
}

/** Separates thoughts that a model writes between tags from the rest of its text, as the text comes. */
export interface ThinkingTags {
  push(delta: string): readonly TaggedPiece[];
  /** What was held back. Called once, at the end of the text. */
  end(): readonly TaggedPiece[];
}

const NAMES = "think|thinking|thought|antthinking";
const OPEN = new RegExp(`^<\\s*(?:${NAMES})\\s*>`, "i");
const CLOSE = new RegExp(`^<\\s*/\\s*(?:${NAMES})\\s*>`, "i");
const FINAL = /^<\s*\/?\s*final\s*>/i;
/** A tag that may go on in the next piece. */
const UNFINISHED = /^<\s*\/?\s*[a-z]{0,11}\s*$/i;
/** Longest tag that is waited for, blanks included. */
const MOST_HELD = 32;
/** Backquotes, line ends, what may be a tag, and everything between. */
const WORD = /`+|\n|<|[^`\n<]+/y;

/** Code is quoted, so tags in it are meant to be read: fences at the beginning of a line, backquotes within one. */
interface Code {
  fence: string | undefined;
  inline: string | undefined;
  /** Nothing but blanks so far in this line. */
  lineStart: boolean;
}

function afterWord(code: Code, word: string): void {
  if (word === "\n") {
    code.inline = undefined;
    code.lineStart = true;
    return;
  }
  if (word.startsWith("`")) {
    if (code.fence !== undefined) {
      if (code.lineStart && word.length >= code.fence.length) code.fence = undefined;
    } else if (code.lineStart && word.length >= 3) code.fence = word;
    else if (code.inline === undefined) code.inline = word;
    else if (code.inline === word) code.inline = undefined;
  }
  if (word.trim() !== "") code.lineStart = false;
}

export function createThinkingTags(): ThinkingTags {
  let held = "";
  let thinking = false;
  /** Whether a visible text came before the thought that is open. */
  let spokeBefore = false;
  let spoke = false;
  let final = false;
  /** Blanks around tags are layout. */
  let trims = false;
  /** The open thought: text after all when it is never closed and something was said before it. */
  let thought = "";
  let raw = "";
  const code: Code = { fence: undefined, inline: undefined, lineStart: true };

  function shown(text: string, out: TaggedPiece[]): void {
    if (thinking) raw += text;
    const rest = trims ? text.trimStart() : text;
    if (rest === "") return;
    trims = false;
    // What may turn out to be text is not shown as a thought meanwhile.
    if (thinking) thought += rest;
    else if (rest.trim() !== "") spoke = true;
    if (thinking && spokeBefore) return;
    const last = out.at(-1);
    const type = thinking ? "thinking" : "text";
    if (last?.type === type) out[out.length - 1] = { type, text: last.text + rest };
    else out.push({ type, text: rest });
  }

  /** The tag at this place, taken; how long it is, or undefined when it is none. */
  function tagAt(rest: string, out: TaggedPiece[]): number | undefined {
    if (thinking) {
      const [closed] = CLOSE.exec(rest) ?? [];
      if (closed === undefined) return undefined;
      if (spokeBefore && thought !== "") out.push({ type: "thinking", text: thought });
      thinking = false;
      trims = !spoke;
      return closed.length;
    }
    if (code.fence !== undefined || code.inline !== undefined) return undefined;
    const [opened] = OPEN.exec(rest) ?? [];
    if (opened !== undefined) {
      thinking = true;
      spokeBefore = spoke;
      thought = "";
      raw = opened;
      trims = true;
      return opened.length;
    }
    const [around] = FINAL.exec(rest) ?? [];
    if (around === undefined || (around.includes("/") ? !final : spoke)) return undefined;
    final = true;
    trims ||= !spoke;
    return around.length;
  }

  function read(text: string, isEnd: boolean): readonly TaggedPiece[] {
    const out: TaggedPiece[] = [];
    let at = 0;
    while (at < text.length) {
      WORD.lastIndex = at;
      const [word] = WORD.exec(text)!;
      const rest = word === "<" ? text.slice(at, at + MOST_HELD) : "";
      const tag = word === "<" ? tagAt(rest, out) : undefined;
      if (tag !== undefined) {
        at += tag;
        continue;
      }
      const mayGoOn = word === "<" ? UNFINISHED.test(rest) && rest.length < MOST_HELD : word.startsWith("`");
      if (!isEnd && mayGoOn && at + Math.max(word.length, rest.length) === text.length) break;
      if (!thinking) afterWord(code, word);
      shown(word, out);
      at += word.length;
    }
    held = text.slice(at);
    return out;
  }

  return {
    push: (delta) => read(held + delta, false),
    end() {
      const out = [...read(held, true)];
      if (thinking && spokeBefore) out.push({ type: "text", text: raw });
      return out;
    },
  };
}

const MAY_BE_TAGGED = new RegExp(`<\\s*/?\\s*(?:${NAMES}|final)\\s*>`, "i");
/** Servers whose template opens the thought let the answer begin inside it: only its end is to be seen, on a line of its own. */
const ONLY_CLOSED = new RegExp(`^([\\s\\S]*?)(?:^|\\n)[ \\t]*<\\s*/\\s*(?:${NAMES})\\s*>[ \\t]*(?=\\n|$)`, "i");

/** A finished text in its pieces. While it comes, a thought of which only the end is marked cannot be told from text. */
function piecesOf(text: string): readonly TaggedPiece[] {
  const tags = createThinkingTags();
  const pieces: TaggedPiece[] = [];
  for (const piece of [...tags.push(text), ...tags.end()]) {
    const last = pieces.at(-1);
    if (last?.type === piece.type) pieces[pieces.length - 1] = { ...piece, text: last.text + piece.text };
    else pieces.push(piece);
  }
  if (pieces.some(({ type }) => type === "thinking")) return pieces;
  const [before, thought] = ONLY_CLOSED.exec(text) ?? [];
  if (before === undefined || thought === undefined || (thought.match(/^[ \t]*```/gm) ?? []).length % 2 === 1) return pieces;
  const answer = text.slice(before.length).trimStart();
  return [...(thought.trim() === "" ? [] : [{ type: "thinking" as const, text: thought.trim() }]), ...(answer === "" ? [] : piecesOf(answer))];
}

/** The message with thoughts between tags as thoughts; the same one when it has none. */
export function untagged(message: AssistantMessage): AssistantMessage {
  if (!message.content.some((part) => part.type === "text" && MAY_BE_TAGGED.test(part.text))) return message;
  const content = message.content.flatMap((part): AssistantMessage["content"] => {
    if (part.type !== "text" || !MAY_BE_TAGGED.test(part.text)) return [part];
    const pieces = piecesOf(part.text);
    if (pieces.length === 1 && pieces[0]!.type === "text" && pieces[0]!.text === part.text) return [part];
    return pieces.filter(({ text }) => text.trim() !== "").map(({ type, text }) => (type === "text" ? { type, text } : { type, thinking: text.trimEnd() }));
  });
  return { ...message, content };
}

/** An answer as it comes, with thoughts between tags as thoughts. */
export async function* withoutThinkingTags(events: AsyncIterable<ModelEvent>): AsyncGenerator<ModelEvent, void, void> {
  let open: { readonly index: number; readonly tags: ThinkingTags } | undefined;
  const told = (pieces: readonly TaggedPiece[], index: number): readonly ModelEvent[] => pieces.map(({ type, text }) => ({ type, index, delta: text }));
  for await (const event of events) {
    if (event.type === "text") {
      if (open && open.index !== event.index) yield* told(open.tags.end(), open.index);
      if (open?.index !== event.index) open = { index: event.index, tags: createThinkingTags() };
      yield* told(open.tags.push(event.delta), event.index);
      continue;
    }
    if (open && event.type !== "thinking") {
      yield* told(open.tags.end(), open.index);
      open = undefined;
    }
    yield event.type === "end" ? { ...event, message: untagged(event.message) } : event;
  }
}

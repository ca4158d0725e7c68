/** What is still to be said once a turn is over. */
import { isSilentReply, type TurnEnd } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import { findFences } from "../../channels/index.ts";
import type { ReplyPayload } from "../../protocol/index.ts";
import type { SaidParts } from "./answer.ts";
import { createBlockWriter } from "./blocks/block-writer.ts";
import { renderBlock, type OpenFence } from "./blocks/cut.ts";
import type { BlockSettings } from "./blocks/settings.ts";
import { payloadOf, readReply, wordsOf, type ShapeFacts } from "./shape/payload.ts";
import { stripAlive } from "./shape/silence.ts";

/** Finds out how much of an answer a process before this one has said already. */

const FENCE_LINE = /^ {0,3}(?:`{3,}|~{3,})/;

/** The characters that count when two texts are compared: no white space, and no lines that open or close code. Calls `each` until it says no. */
function walk(text: string, from: number, each: (sign: string, index: number) => boolean): void {
  let at = from;
  while (at < text.length) {
    const newline = text.indexOf("\n", at);
    const end = newline < 0 ? text.length : newline;
    const whole = at === 0 || text[at - 1] === "\n";
    if (!(whole && FENCE_LINE.test(text.slice(at, Math.min(end, at + 10))))) {
      for (let index = at; index < end; index += 1) {
        if (!/\s/.test(text[index]!) && !each(text[index]!, index)) return;
      }
    }
    at = end + 1;
  }
}

/** Where `text` goes on behind `part`, which was cut from it at `from`. Undefined: it was not. */
function behind(text: string, from: number, part: string): number | undefined {
  const signs: string[] = [];
  walk(part, 0, (sign) => signs.push(sign) > 0);
  if (signs.length === 0) return from;
  let matched = 0;
  let end = from;
  walk(text, from, (sign, index) => {
    if (sign !== signs[matched]) return false;
    matched += 1;
    end = index + 1;
    return matched < signs.length;
  });
  return matched === signs.length ? end : undefined;
}

/** Goes through the texts of a turn in order and finds how much of each was sent by a process before this one. */
export function createSpokenCursor(spoken: readonly string[], prefix: string | undefined): (text: string) => number {
  const parts = spoken.map((part) => (prefix && part.startsWith(`${prefix} `) ? part.slice(prefix.length + 1) : part));
  let next = 0;
  return (text) => {
    // Answers that were complete before the restart need not be among the texts.
    const first = parts.findIndex((part, index) => index >= next && (behind(text, 0, part) ?? 0) > 0);
    if (first < 0) return 0;
    next = first;
    let at = 0;
    for (let end = behind(text, at, parts[next]!); end !== undefined; end = next < parts.length ? behind(text, at, parts[next]!) : undefined) {
      at = end;
      next += 1;
    }
    return at;
  };
}

export interface FinalFacts extends ShapeFacts {
  /** Cut into blocks like those that are out; undefined: each text is one payload. */
  readonly blocks: BlockSettings | undefined;
  /** Of answers of which something was said, in order. */
  readonly said: readonly SaidParts[];
  /** How much of a text a process before this one sent. */
  readonly spokenOf: (text: string) => number;
  /** A process before this one sent part of this turn, and nothing marks the continuation yet. */
  readonly isContinued: boolean;
  /** Texts of this turn so far; those that follow are added. */
  readonly seen: Set<string>;
  readonly clock: Clock;
}

const CONTINUED = "(continued after a restart)";

/** How much of `text` the parts are, from its beginning. Undefined: they are not of this text. */
function lengthOf(text: string, parts: readonly string[]): number | undefined {
  let at = 0;
  for (const part of parts) {
    // White space behind the last word is no part of a text.
    if (!text.startsWith(part, at) && !text.startsWith(part.trimEnd(), at)) return undefined;
    at = Math.min(at + part.length, text.length);
  }
  return at;
}

/** The code that a text is in at its end. */
function openAt(text: string): OpenFence | undefined {
  const last = findFences(text).at(-1);
  return last && last.closing === last.end && text !== "" ? { line: last.line, marker: last.marker } : undefined;
}

function piecesOf(rest: string, open: OpenFence | undefined, { blocks, clock }: FinalFacts): readonly string[] {
  if (!blocks) return [renderBlock(rest, open, Number.MAX_SAFE_INTEGER)];
  const writer = createBlockWriter({ settings: { ...blocks, breakAt: "message_end" }, clock, open, emit: () => {} });
  writer.push(rest);
  return writer.rest().map(({ text }) => text);
}

/** What is still to be sent of some texts. */
interface Finals {
  readonly payloads: readonly ReplyPayload[];
  /** How many of them, from the first, belong to texts that the model wrote before its last one. */
  readonly between: number;
}

/** The payloads of texts of a turn. Nothing that is out is in them. */
export function finalPayloads({ texts }: Pick<TurnEnd, "texts">, facts: FinalFacts): Finals {
  const open = [...facts.said];
  const payloads: ReplyPayload[] = [];
  let between = 0;
  for (const text of texts) {
    const read = readReply(text, facts.localRoots);
    const own = open.findIndex(({ raw }) => lengthOf(read.text, raw) !== undefined);
    const [parts] = own < 0 ? [] : open.splice(0, own + 1).slice(own);
    const at = Math.max(parts ? lengthOf(read.text, parts.raw)! : 0, facts.spokenOf(read.text));
    const key = JSON.stringify([read.text, read.directives.media]);
    const repeated = facts.seen.has(key) && at === 0 && (parts?.media ?? 0) === 0;
    facts.seen.add(key);
    if (repeated) continue;
    between = payloads.length;
    payloads.push(...restOf(read, at, parts?.media ?? 0, facts));
  }
  const first = payloads.findIndex((payload) => payload.text !== undefined);
  if (!facts.isContinued || first < 0) return { payloads, between };
  const marked = payloads.map((payload, index) => (index === first ? { ...payload, text: `${CONTINUED}\n\n${payload.text}` } : payload));
  return { payloads: marked, between };
}

/** The indentation of words that go on stays. */
function withoutAlive(rest: string): string {
  const { text, stripped } = stripAlive(rest);
  return stripped ? text : rest;
}

function restOf({ text, directives }: ReturnType<typeof readReply>, at: number, mediaSaid: number, facts: FinalFacts): ReplyPayload[] {
  const words = at === 0 || isSilentReply(text) ? wordsOf(text, facts.ackMaxChars) : withoutAlive(text.slice(at));
  const open = at === 0 ? undefined : openAt(text.slice(0, at));
  const pieces = piecesOf(open ? words.replace(/^\r?\n/, "") : words, open, facts).filter((piece) => piece !== "");
  const media = directives.media.slice(mediaSaid);
  if (pieces.length === 0) return [payloadOf("", directives, facts, media)].filter((payload) => payload !== undefined);
  // Files come with the first words; what is spoken is spoken once.
  return pieces.flatMap(
    (piece, index) => payloadOf(piece, index === 0 ? directives : { ...directives, spokenText: undefined }, facts, index === 0 ? media : []) ?? [],
  );
}

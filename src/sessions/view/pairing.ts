import type { AssistantMessage, ToolCallContent, ToolResultMessage } from "../../protocol/index.ts";
import { messageChars } from "../tokens.ts";
import type { Piece } from "./piece.ts";

/** Said to the model where a result is missing. */
export const NO_RESULT = "No result was recorded for this call; whether it had an effect is unknown.";
const NO_OUTPUT = "(no output)";

interface Call {
  readonly call: ToolCallContent;
  result?: Piece;
}

export interface Paired {
  readonly pieces: Piece[];
  readonly results: number;
  readonly unanswered: number;
}

/** How often each id was used before, by what it begins with. */
export interface Taken {
  get(base: string): number | undefined;
  set(base: string, uses: number): void;
  /** With what was added, to build on. The one it was built on must not be used any more. */
  settled(): Taken;
}

/** Ids that are used by calls after those of `before`, which stays as it is until this one is settled. */
export function createTaken(before?: Taken): Taken {
  const own = new Map<string, number>();
  return {
    get: (base) => own.get(base) ?? before?.get(base),
    set: (base, uses) => void own.set(base, uses),
    settled() {
      if (!before) return this;
      for (const [base, uses] of own) before.set(base, uses);
      return before;
    },
  };
}

/**
 * Every result directly behind its call, every call with exactly one result. A result belongs to the nearest call before it with its id that has
 * none yet; all others are dropped, and a call that is left without one gets an error. No id is used twice, nor one of those that are taken.
 */
export function pair(pieces: readonly Piece[], taken: Taken = createTaken()): Paired {
  // By id: the unanswered calls of each answer that used it, answers in order.
  const open = new Map<string, Call[][]>();
  const calls: (readonly Call[] | undefined)[] = [];
  let results = 0;
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    const { message } = piece;
    if (message.role === "assistant") {
      const own = callsIn(message);
      calls[at] = own;
      if (own.length === 0) continue;
      // Nearly always the results follow in order.
      if (answeredAtOnce(pieces, at, own)) at += own.length;
      else for (const [id, group] of Map.groupBy(own, ({ call }) => call.id)) waitFor(open, id, group);
    } else if (message.role === "toolResult") {
      const groups = open.get(message.toolCallId);
      const call = groups?.at(-1)?.shift();
      if (call) call.result = piece;
      else results += 1;
      if (groups?.at(-1)?.length === 0) groups.pop();
    }
  }
  return { ...placed(pieces, calls, taken), results };
}

const NO_CALLS: Call[] = [];

function callsIn({ content }: AssistantMessage): Call[] {
  if (!content.some((part) => part.type === "toolCall")) return NO_CALLS;
  const calls: Call[] = [];
  for (const part of content) if (part.type === "toolCall") calls.push({ call: part });
  return calls;
}

function answeredAtOnce(pieces: readonly Piece[], at: number, calls: readonly Call[]): boolean {
  for (let n = 0; n < calls.length; n += 1) {
    const next = pieces[at + 1 + n]?.message;
    if (next?.role !== "toolResult" || next.toolCallId !== calls[n]!.call.id) return false;
  }
  for (const [n, call] of calls.entries()) call.result = pieces[at + 1 + n]!;
  return true;
}

function waitFor(open: Map<string, Call[][]>, id: string, group: Call[]): void {
  const waiting = open.get(id);
  if (waiting) waiting.push(group);
  else open.set(id, [group]);
}

function placed(pieces: readonly Piece[], calls: readonly (readonly Call[] | undefined)[], taken: Taken): Pick<Paired, "pieces" | "unanswered"> {
  const out: Piece[] = [];
  let unanswered = 0;
  for (let at = 0; at < pieces.length; at += 1) {
    const piece = pieces[at]!;
    if (piece.message.role === "toolResult") continue;
    const own = calls[at];
    if (own === undefined || own.length === 0) {
      out.push(piece);
      continue;
    }
    const ids = own.map(({ call }) => uniqueId(call.id, taken));
    out.push(withIds(piece, own, ids));
    for (const [n, { call, result }] of own.entries()) {
      if (!result) unanswered += 1;
      out.push(resultOf(call, ids[n]!, result, piece));
    }
  }
  return { pieces: out, unanswered };
}

/** Some ids are `call|item`; it is the part before the bar that must be unique. `taken` counts how often each was used. */
function uniqueId(id: string, taken: Taken): string {
  const bar = id.indexOf("|");
  const base = bar < 0 ? id : id.slice(0, bar);
  let used = taken.get(base) ?? 0;
  if (used === 0) {
    taken.set(base, 1);
    return id;
  }
  let name = base;
  while (taken.get(name) !== undefined) name = `${base}_${(used += 1)}`;
  taken.set(base, used);
  taken.set(name, 1);
  return name;
}

function withIds(piece: Piece, calls: readonly Call[], ids: readonly string[]): Piece {
  if (calls.every(({ call }, n) => call.id === ids[n])) return piece;
  const message = piece.message as AssistantMessage;
  let next = 0;
  const content = message.content.map((part) => (part.type === "toolCall" ? { ...part, id: ids[next++]! } : part));
  return { ...piece, message: { ...message, content } };
}

function resultOf(call: ToolCallContent, id: string, found: Piece | undefined, answer: Piece): Piece {
  if (!found) {
    const content = [{ type: "text", text: NO_RESULT }] as const;
    const { timestamp } = answer.message;
    return {
      message: { role: "toolResult", toolCallId: id, toolName: call.name, content, isError: true, timestamp },
      chars: NO_RESULT.length,
      images: 0,
      at: answer.at,
    };
  }
  const message = found.message as ToolResultMessage;
  const empty = message.content.length === 0;
  if (!empty && message.toolCallId === id && message.toolName === call.name) return found;
  const same: ToolResultMessage = { ...message, toolCallId: id, toolName: call.name, ...(empty ? { content: [{ type: "text", text: NO_OUTPUT }] } : {}) };
  return { ...found, message: same, chars: messageChars(same) };
}

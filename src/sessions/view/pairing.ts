import type { AssistantMessage, ToolCallContent, ToolResultMessage } from "../../protocol/index.ts";
import { messageChars } from "../usage.ts";
import { isAnswer, isResult, type Piece } from "./item.ts";

/** Shown to the model where a result is missing. */
const NO_RESULT = "No result was recorded for this call; whether it had an effect is unknown.";
const NO_OUTPUT = "(no output)";

interface Call {
  readonly call: ToolCallContent;
  /** Unique in the view. */
  readonly id: string;
  result: Piece<ToolResultMessage> | undefined;
}

/** How often each id was used, by the part of it that must be unique. */
export type UsedIds = ReadonlyMap<string, number>;

export interface Paired {
  readonly pieces: readonly Piece[];
  /** Results that belong to no call. */
  readonly results: number;
  readonly unanswered: number;
  /** What these pieces change in the ids that were used before. */
  readonly used: UsedIds;
}

/** Neither a result nor an answer with calls. */
function isPlain({ message }: Piece): boolean {
  return message.role === "user" || (message.role === "assistant" && !message.content.some(({ type }) => type === "toolCall"));
}

/**
 * Every result directly behind its call, every call with exactly one result. A result belongs to the nearest call before it with its id that has
 * none yet; all others are dropped, and a call that is left without one gets an error. No id is used twice, nor one of those that were used before.
 */
export function pair(pieces: readonly Piece[], before: UsedIds = new Map()): Paired {
  const used = new Map<string, number>();
  if (pieces.every(isPlain)) return { pieces, results: 0, unanswered: 0, used };
  const calls = new Map<Piece, readonly Call[]>();
  // By id: the unanswered calls of each answer that used it, answers in order.
  const open = new Map<string, Call[][]>();
  let results = 0;
  let next = 0;
  for (const [at, piece] of pieces.entries()) {
    if (at < next) continue;
    if (isAnswer(piece)) {
      const own = piece.message.content.flatMap((part): Call[] =>
        part.type === "toolCall" ? [{ call: part, id: uniqueId(part.id, before, used), result: undefined }] : [],
      );
      if (own.length === 0) continue;
      calls.set(piece, own);
      // Nearly always the results follow in order.
      if (answeredAtOnce(pieces.slice(at + 1, at + 1 + own.length), own)) next = at + 1 + own.length;
      else for (const [id, group] of Map.groupBy(own, ({ call }) => call.id)) open.set(id, [...(open.get(id) ?? []), group]);
    } else if (isResult(piece)) {
      const groups = open.get(piece.message.toolCallId);
      const call = groups?.at(-1)?.shift();
      if (call) call.result = piece;
      else results += 1;
      if (groups?.at(-1)?.length === 0) groups.pop();
    }
  }
  return { ...inOrder(pieces, calls), results, used };
}

function answeredAtOnce(following: readonly Piece[], calls: readonly Call[]): boolean {
  const results = following.filter(isResult);
  if (results.length < calls.length || calls.some(({ call }, n) => results[n]?.message.toolCallId !== call.id)) return false;
  for (const [n, call] of calls.entries()) call.result = results[n];
  return true;
}

/** The pieces with each call's result behind its answer. */
function inOrder(pieces: readonly Piece[], calls: ReadonlyMap<Piece, readonly Call[]>): Pick<Paired, "pieces" | "unanswered"> {
  const out: Piece[] = [];
  let unanswered = 0;
  for (const piece of pieces) {
    if (isResult(piece)) continue;
    const own = calls.get(piece) ?? [];
    out.push(isAnswer(piece) ? withIds(piece, own) : piece);
    for (const call of own) {
      if (!call.result) unanswered += 1;
      out.push(resultOf(call, piece));
    }
  }
  return { pieces: out, unanswered };
}

/** Some ids are `call|item`; it is the part before the bar that must be unique. */
function uniqueId(id: string, before: UsedIds, used: Map<string, number>): string {
  const bar = id.indexOf("|");
  const base = bar < 0 ? id : id.slice(0, bar);
  const usesOf = (name: string): number | undefined => used.get(name) ?? before.get(name);
  let uses = usesOf(base) ?? 0;
  if (uses === 0) {
    used.set(base, 1);
    return id;
  }
  let name = base;
  while (usesOf(name) !== undefined) name = `${base}_${(uses += 1)}`;
  used.set(base, uses);
  used.set(name, 1);
  return name;
}

function withIds(piece: Piece<AssistantMessage>, calls: readonly Call[]): Piece {
  if (calls.every(({ call, id }) => call.id === id)) return piece;
  const content = piece.message.content.map((part) => {
    const own = calls.find(({ call }) => call === part);
    return own ? { ...own.call, id: own.id } : part;
  });
  return { ...piece, message: { ...piece.message, content } };
}

function resultOf({ call, id, result }: Call, answer: Piece): Piece {
  if (!result) {
    const content = [{ type: "text", text: NO_RESULT }] as const;
    const { timestamp } = answer.message;
    return {
      message: { role: "toolResult", toolCallId: id, toolName: call.name, content, isError: true, timestamp },
      chars: NO_RESULT.length,
      images: 0,
      at: answer.at,
    };
  }
  const { message } = result;
  const empty = message.content.length === 0;
  if (!empty && message.toolCallId === id && message.toolName === call.name) return result;
  const same: ToolResultMessage = { ...message, toolCallId: id, toolName: call.name, ...(empty ? { content: [{ type: "text", text: NO_OUTPUT }] } : {}) };
  return { ...result, message: same, chars: messageChars(same) };
}

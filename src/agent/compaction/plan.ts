import { contextOf, contextSize, tokensOfChars, type PathItem, type Piece } from "../../sessions/index.ts";
import { isRecord } from "../../base/records.ts";
import type { TranscriptEntry } from "../../protocol/index.ts";
import { blockLines, filesOf, withoutBlocks, type TouchedFiles } from "./conversation.ts";

/** What an earlier compaction left. */
interface PreviousSummary {
  /** Its text, without what was added by rule. */
  readonly text: string;
  readonly files: TouchedFiles;
  /** What the user wants to hold for good, word for word. */
  readonly standing: readonly string[];
}

const texts = (value: unknown): readonly string[] | undefined =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === "string" && one.trim() !== "") : undefined;

/** Reads a compaction of any origin: lists come from `details`, else from the text. */
function previousOf(entry: TranscriptEntry): PreviousSummary {
  const summary = typeof entry["summary"] === "string" ? entry["summary"].toWellFormed() : "";
  const known = isRecord(entry["details"]) ? entry["details"] : {};
  return {
    text: withoutBlocks(summary),
    files: {
      read: texts(known["readFiles"]) ?? blockLines(summary, "read-files"),
      modified: texts(known["modifiedFiles"]) ?? blockLines(summary, "modified-files"),
    },
    standing: texts(known["standing"]) ?? blockLines(summary, "standing-instructions").map((line) => line.replace(/^- /, "")),
  };
}

/**
 * For each message, the position of the last result that answers one of its calls; its own position when it has none. A result belongs to the nearest
 * call before it with its id that has none yet. Open calls of the last answer reach beyond the end: their results are
 * yet to come.
 */
function reachOfCalls(pieces: readonly Piece[]): readonly number[] {
  const reach = pieces.map((_, at) => at);
  const open = new Map<string, number[]>();
  for (const [at, { message }] of pieces.entries()) {
    if (message.role === "toolResult") {
      const caller = open.get(message.toolCallId)?.pop();
      if (caller !== undefined) reach[caller] = at;
    } else if (message.role === "assistant") {
      for (const part of message.content) {
        if (part.type !== "toolCall") continue;
        const callers = open.get(part.id);
        if (callers) callers.push(at);
        else open.set(part.id, [at]);
      }
    }
  }
  const last = pieces.findLastIndex(({ message }) => message.role === "assistant");
  if ([...open.values()].some((callers) => callers.includes(last))) reach[last] = pieces.length;
  return reach;
}

/** What a compaction would do. */
export interface CompactionPlan {
  readonly kind: "plan";
  /** The summary that stands at the beginning of the conversation now. */
  readonly previous: PreviousSummary | undefined;
  /** What is summed up: everything before the turn in which the cut is, and that turn's beginning when the cut is not at its start. */
  readonly history: readonly PathItem[];
  readonly turnStart: readonly PathItem[];
  /** Messages that stay word for word. */
  readonly kept: number;
  readonly firstKeptEntryId: string;
  readonly tokensBefore: number;
  /** A guess at what is summed up, the earlier summary included, and at what stays. */
  readonly compactedTokens: number;
  readonly keptTokens: number;
  /** Files of everything that was summed up so far. */
  readonly files: TouchedFiles;
}

export interface Nothing {
  readonly kind: "nothing";
  readonly why: string;
}

export interface PlanOptions {
  /** Tokens that stay word for word, roughly: the message that reaches it stays as a whole. */
  readonly keepRecentTokens: number;
  /** The provider has refused the conversation: whatever the guess says, half of it goes. */
  readonly overflow?: boolean;
}

const nothing = (why: string): Nothing => ({ kind: "nothing", why });
const tokensOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { chars }) => sum + tokensOfChars(chars), 0);

/** Decides where a conversation is cut. Pure and total: for any path either a cut that parts no call from its result, or why there is none. */
export function planCompaction(path: readonly PathItem[], { keepRecentTokens, overflow = false }: PlanOptions): CompactionPlan | Nothing {
  const { pieces, compactedAt } = contextOf(path);
  const body = pieces.filter(({ at }) => at !== compactedAt);
  if (body.length === 0) return nothing("there is no conversation yet");
  if (!body.some(({ at }) => at > compactedAt)) return nothing("it is already summarised, and there are no new messages");
  const total = tokensOf(body);
  const keep = Math.max(1, overflow ? Math.min(keepRecentTokens, Math.floor(total / 2)) : keepRecentTokens);
  if (total < keep) return nothing("all messages are recent");
  const named = namedPositions(path);
  const cut = cutPosition(named, body, keep);
  const first = cut === undefined ? undefined : body[cut];
  const last = cut === undefined ? undefined : body[cut - 1];
  const firstKeptEntryId = first && last && path[firstKept(path, named, last.at, first.at)]?.entry.id;
  if (cut === undefined || !first || firstKeptEntryId === undefined) return nothing("it cannot be cut without separating a tool call from its result");

  const turnAt = first.message.role === "user" ? cut : body.findLastIndex(({ message }, at) => at < cut && message.role === "user");
  const turnStart = turnAt < 0 ? cut : turnAt;
  const messages = pieces.map(({ message }) => message);
  const since = compactedAt < 0 ? 0 : pieces.findLastIndex(({ at }) => at <= compactedAt) + 1;
  const items = (some: readonly Piece[]): readonly PathItem[] => some.flatMap(({ at }) => path[at] ?? []);
  const compaction = path[compactedAt];
  const previous = compaction && previousOf(compaction.entry);
  const gone = items(body.slice(0, cut));
  return {
    kind: "plan",
    previous,
    history: items(body.slice(0, turnStart)),
    turnStart: items(body.slice(turnStart, cut)),
    kept: body.length - cut,
    firstKeptEntryId,
    tokensBefore: contextSize(messages, since).tokens,
    compactedTokens: tokensOf(pieces) - tokensOf(body.slice(cut)),
    keptTokens: tokensOf(body.slice(cut)),
    files: filesOf(gone, previous?.files),
  };
}

/** Positions whose id names them and nothing after them. */
function namedPositions(path: readonly PathItem[]): ReadonlySet<number> {
  const positions = new Map<string, number>();
  for (const [at, { entry }] of path.entries()) if (typeof entry.id === "string" && entry.id !== "") positions.set(entry.id, at);
  return new Set(positions.values());
}

/** The first position after the part that goes where nothing is parted; else the last one before it. Undefined when there is none. */
function cutPosition(named: ReadonlySet<number>, body: readonly Piece[], keep: number): number | undefined {
  let left = keep;
  const from = Math.max(
    0,
    body.findLastIndex(({ chars }) => (left -= tokensOfChars(chars)) <= 0),
  );
  const reach = reachOfCalls(body);
  let open = -1;
  let before: number | undefined;
  for (const [at, piece] of body.entries()) {
    const isParting = open >= at;
    open = Math.max(open, reach[at] ?? at);
    if (at === 0 || isParting || piece.message.role === "toolResult" || !named.has(piece.at)) continue;
    if (at >= from) return at;
    before = at;
  }
  return before;
}

/** With the facts for programs that stand directly before the first message that stays. */
function firstKept(path: readonly PathItem[], named: ReadonlySet<number>, after: number, at: number): number {
  const facts = path.slice(after + 1, at);
  return after + 1 + facts.findLastIndex((item, index) => !isFact(item) || !named.has(after + 1 + index)) + 1;
}

const isFact = ({ entry, message, firstKeptId }: PathItem): boolean =>
  message === undefined && firstKeptId === undefined && entry.type !== "message" && entry.type !== "custom_message";

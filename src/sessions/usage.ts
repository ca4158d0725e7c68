import type { ModelMessage, SessionEntry, Usage } from "../protocol/index.ts";

/** What an image counts as, in characters. */
const IMAGE_CHARS = 4_800;
const CHARS_PER_TOKEN = 4;

/** Characters of a message: its text, reasoning and tool arguments; an image has a fixed price. */
export function messageChars({ content }: ModelMessage): number {
  if (typeof content === "string") return content.length;
  let chars = 0;
  for (const part of content) {
    if (part.type === "text") chars += part.text.length;
    else if (part.type === "thinking") chars += part.thinking.length;
    else chars += part.type === "image" ? IMAGE_CHARS : part.name.length + JSON.stringify(part.arguments).length;
  }
  return chars;
}

/** Tokens of so many characters, rounded up. */
export function tokensOfChars(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/** A guess at the tokens of messages: four characters each, rounded up for every message. */
export function estimateTokens(messages: readonly ModelMessage[]): number {
  let tokens = 0;
  for (const message of messages) tokens += tokensOfChars(messageChars(message));
  return tokens;
}

/** How much of the window a conversation fills. */
export interface ContextSize {
  readonly tokens: number;
  /** What the provider counted at the last usable answer; 0 without one. */
  readonly counted: number;
  /** The guess for what came after it. */
  readonly estimated: number;
}

/**
 * The last count a provider gave, and a guess for what came after it. Answers that failed or that the gateway wrote counted nothing, and those
 * before `from` counted another conversation: what a compaction kept was answered when everything was still there.
 */
export function contextSize(messages: readonly ModelMessage[], from = 0): ContextSize {
  for (let at = messages.length - 1; at >= from; at -= 1) {
    const message = messages[at];
    if (message?.role !== "assistant" || message.stopReason === "error" || message.stopReason === "aborted") continue;
    const counted = message.usage.totalTokens;
    if (counted <= 0) continue;
    const estimated = estimateTokens(messages.slice(at + 1));
    return { tokens: counted + estimated, counted, estimated };
  }
  const estimated = estimateTokens(messages);
  return { tokens: estimated, counted: 0, estimated };
}

/** What a run used. */
export interface RunUsage {
  readonly provider: string;
  readonly model: string;
  /** The model's window, in tokens. */
  readonly contextTokens: number;
  /** What each call of the run reported, in order; empty when nothing was. */
  readonly calls: readonly Usage[];
  /** Size of the last prompt, where a provider reports it. */
  readonly promptTokens?: number | undefined;
  /** Only a sum over the run is known: it says nothing about the size of the conversation. */
  readonly sumOnly?: boolean | undefined;
}

type Patch = Readonly<Record<string, unknown>>;

/** Fields of the entry after a run. `totalTokens` is the size of the last prompt: the answer is not counted, and earlier calls are not added. */
export function usageAfterRun({ provider, model, contextTokens, calls, promptTokens, sumOnly }: RunUsage): Patch {
  const facts = { modelProvider: provider, model, contextTokens };
  const last = calls.findLast((call) => call.input + call.cacheRead + call.cacheWrite + call.output > 0);
  if (!last) return facts;
  const sum = sumUsage(calls);
  const total = promptTokens ?? (sumOnly ? undefined : last.input + last.cacheRead + last.cacheWrite);
  return { ...facts, inputTokens: sum.input, outputTokens: sum.output, totalTokens: total ?? null, totalTokensFresh: total !== undefined };
}

/** Fields of the entry after a compaction that left so many tokens. */
export function usageAfterCompaction(entry: SessionEntry | undefined, totalTokens: number | undefined): Patch {
  const count = entry?.["compactionCount"];
  return {
    compactionCount: (typeof count === "number" ? count : 0) + 1,
    inputTokens: null,
    outputTokens: null,
    totalTokens: totalTokens ?? null,
    totalTokensFresh: totalTokens !== undefined,
  };
}

/** Tokens in the conversation as far as they are known. */
export function knownTokens(entry: SessionEntry | undefined): number | undefined {
  return entry?.totalTokensFresh === false ? undefined : entry?.totalTokens;
}

/** Tokens of several calls together. */
export interface UsageSum {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly total: number;
}

/** All calls together. */
export function sumUsage(calls: readonly Usage[]): UsageSum {
  const sum = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  for (const call of calls) {
    sum.input += call.input;
    sum.output += call.output;
    sum.cacheRead += call.cacheRead;
    sum.cacheWrite += call.cacheWrite;
    sum.total += call.totalTokens;
  }
  return sum;
}

import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { HookContext, Hooks } from "../../hooks/index.ts";
import { pathItem, tokensOfChars, view, type CompactionFields, type PathItem } from "../../sessions/index.ts";
import { planCompaction, type CompactionPlan } from "./plan.ts";
import type { Ask, Questions } from "./question.ts";
import { compactionSizes, type CompactionSettings } from "./settings.ts";
import { summariseHistory, summariseTurn, type SummaryWork } from "./summarise.ts";
import { clip } from "../../base/text.ts";
import { block, textOf, type TouchedFiles } from "./conversation.ts";

/** Words by which a user says that something is to hold from now on. */
const LASTING =
  /\b(?:always|never|remember|from now on|keep in mind|(?:don'?t|do not) (?:ever|forget)|at all times|under no circumstances|no matter what|immer|niemals|merk dir|toujours|jamais|siempre|nunca)\b/i;
const MAX_SENTENCE_CHARS = 400;
/** Longer ones are pasted text, not something a person wrote. */
const MAX_MESSAGE_CHARS = 8_000;
const MAX_SENTENCES = 60;

/** A person's message without what the gateway put around it: event lines, metadata in fences, the time in front. */
function ownText(text: string): string {
  return text
    .replaceAll(/^[^\n]*\(untrusted[^\n]*\):\n```[\s\S]*?(?:\n```|$)/gm, "")
    .replaceAll(/```[\s\S]*?(?:```|$)/g, "")
    .replaceAll(/^System: \[[^\n]*(?:\n {2}[^\n]*)*$/gm, "")
    .replaceAll(/^\[[^\]\n]{0,200}\]:? */gm, "");
}

/** Sentences of a person that are meant to last, word for word. Questions are none, and neither is what other sessions or programs sent. */
function lastingSentences({ byUser, message }: PathItem): readonly string[] {
  if (!byUser || !message) return [];
  const text = textOf(message);
  if (text.length > MAX_MESSAGE_CHARS) return [];
  return ownText(text)
    .split(/(?<=[.!?。！？])\s+|\n+/)
    .map((sentence) => sentence.replaceAll(/\s+/g, " ").trim())
    .filter((sentence) => LASTING.test(sentence) && !sentence.endsWith("?"))
    .map((sentence) => clip(sentence, MAX_SENTENCE_CHARS));
}

/** What the user wants to hold for good: what was known before and what these messages add, each once, the latest last. */
function standingInstructions(items: readonly PathItem[], before: readonly string[] = []): readonly string[] {
  const found = new Set(before);
  for (const item of items) {
    for (const sentence of lastingSentences(item)) {
      found.delete(sentence);
      found.add(sentence);
    }
  }
  return [...found].slice(-MAX_SENTENCES);
}

const HEADING = /^(#{1,6})\s+(.+?)\s*#*\s*$/;

/** The named sections of a Markdown text, with their headings, in the order of the names. Case does not matter; what stands in a fence is no heading. */
function sectionsOf(markdown: string, names: readonly string[]): readonly string[] {
  const lines = markdown.split(/\r?\n/);
  return names.flatMap((name) => {
    const own: string[] = [];
    let level = 0;
    let fenced = false;
    for (const line of lines) {
      const [, marks = "", title = ""] = (fenced ? null : HEADING.exec(line)) ?? [];
      if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
      if (marks !== "" && level > 0 && marks.length <= level) break;
      if (marks !== "" && level === 0 && title.toLowerCase() === name.trim().toLowerCase()) level = marks.length;
      if (level > 0) own.push(line);
    }
    const text = own.join("\n").trim();
    return text === "" ? [] : [text];
  });
}

/** What follows a summary by rule, whatever the model wrote. */
interface Pins {
  readonly files: TouchedFiles;
  readonly standing: readonly string[];
  /** Open approvals, processes in the background, requests without an answer: one line each. */
  readonly pending: readonly string[];
  /** Sections of AGENTS.md. */
  readonly rules: readonly string[];
}

/** Shares of the characters for each; what one does not need is left to the summary. */
const SHARES = { standing: 0.3, pending: 0.15, rules: 0.15, files: 0.1 } as const;
const MAX_PENDING_CHARS = 400;

/** The last lines that fit, and how many did not. */
function list(lines: readonly string[], chars: number): readonly string[] {
  let left = chars;
  const tooMany = lines.findLastIndex((line) => (left -= line.length + 1) < 0) + 1;
  return tooMany === 0 ? lines : [`(${tooMany} earlier ones are in the transcript)`, ...lines.slice(tooMany)];
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** The blocks behind a summary, within about 0.7 of `maxChars`. Of lists that are too long the latest stay, and the rest is counted. */
function pinnedText({ files, standing, pending, rules }: Pins, maxChars: number): string {
  const chars = (share: number): number => Math.floor(maxChars * share);
  const bullets = (lines: readonly string[]): readonly string[] => lines.map((line) => `- ${oneLine(line)}`);
  const sections = clip(rules.join("\n\n"), chars(SHARES.rules));
  return [
    block("read-files", list(files.read, chars(SHARES.files / 2))),
    block("modified-files", list(files.modified, chars(SHARES.files / 2))),
    block("standing-instructions", list(bullets(standing), chars(SHARES.standing))),
    block("pending-work", list(bullets(pending.map((line) => clip(oneLine(line), MAX_PENDING_CHARS))), chars(SHARES.pending))),
    block("workspace-rules", sections === "" ? [] : [sections]),
  ]
    .filter((text) => text !== "")
    .join("\n\n");
}

export interface CompactRequest {
  readonly path: readonly PathItem[];
  /** Tokens the model can see. */
  readonly window: number;
  readonly settings: CompactionSettings;
  /** Tokens of what is sent beside the conversation: the system prompt and the tools. */
  readonly overhead?: number;
  /** How many times more tokens the provider counts than we guess. */
  readonly scale?: number;
  /** Tokens that the request may have now; less than the window after the provider refused more. */
  readonly budget?: number;
  readonly reason: "threshold" | "overflow" | "manual";
  /** What the user wants the summary to look at. */
  readonly instructions?: string | undefined;
  /** Open approvals, processes in the background, requests without an answer: one line each. They follow the summary word for word. */
  readonly pending?: readonly string[] | undefined;
  /** Text of AGENTS.md, for the sections that follow the summary. */
  readonly agentsFile?: string | undefined;
  /** Absent: no model is there, and the summary is put together by rule. */
  readonly ask?: Ask | undefined;
  readonly hooks?: Pick<Hooks, "run"> | undefined;
  readonly hookContext?: HookContext<"before_compaction"> | undefined;
  readonly sessionFile?: string | undefined;
  /** Makes the entry durable before `after_compaction` is run. Without it the caller appends what is returned. */
  readonly append?: ((entry: CompactionFields) => Promise<unknown>) | undefined;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

export type CompactResult =
  | {
      readonly kind: "compacted";
      readonly entry: CompactionFields;
      readonly tokensBefore: number;
      readonly tokensAfter: number;
      /** Messages the summary stands for. */
      readonly messages: number;
      /** Why no model wrote all of it; absent when one did. */
      readonly byRule?: string;
    }
  | { readonly kind: "nothing"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

/** For all questions together. */
const DEADLINE_MS = 5 * 60_000;
const MAX_QUESTIONS = 40;
/** The user waits for an answer, and questions may be refused as the conversation was. */
const MAX_QUESTIONS_ON_OVERFLOW = 10;
const CHARS_PER_TOKEN = 4;
const ABORTED: CompactResult = { kind: "failed", why: "it was stopped" };
const LEAST_SUMMARY_CHARS = 600;
const LEAST_KEPT_TOKENS = 100;

/**
 * Sums up the older part of a conversation. Writes nothing by itself and never rejects: what is to be appended, why nothing was to be done, or
 * what went wrong. A model that fails makes the summary worse, not the compaction fail.
 */
export async function compact(request: CompactRequest): Promise<CompactResult> {
  const { path, window, settings, reason, signal, scale = 1 } = request;
  const sizes = compactionSizes(request.budget ?? window, settings, request.overhead);
  const plan = planCompaction(path, { keepRecentTokens: Math.max(LEAST_KEPT_TOKENS, Math.floor(sizes.keep / scale)), overflow: reason === "overflow" });
  if (plan.kind === "nothing") return plan;
  if (signal?.aborted) return ABORTED;
  const messages = plan.history.length + plan.turnStart.length;
  const { hooks, hookContext = {} } = request;
  const file = request.sessionFile === undefined ? {} : { sessionFile: request.sessionFile };
  const whileIt = signal ? { signal } : {};
  const going = [...plan.history, ...plan.turnStart].flatMap(({ message }) => (message ? [message] : []));
  const about = { messageCount: messages + plan.kept, compactingCount: messages, tokenCount: plan.tokensBefore, messages: going, ...file };
  await hooks?.run("before_compaction", about, hookContext, whileIt);
  const { entry, byRule } = await written(request, plan, Math.max(LEAST_SUMMARY_CHARS, Math.floor(sizes.summary / scale) * CHARS_PER_TOKEN));
  if (signal?.aborted) return ABORTED;
  if (tokensOfChars(entry.summary.length) >= plan.compactedTokens) return { kind: "nothing", why: "a summary would not be shorter than what it replaces" };
  const after = [...path, pathItem({ type: "compaction", ...entry })];
  const tokensAfter = view({ path: after, model: { provider: "", id: "", contextWindow: window }, now: request.clock.now() }).estimate;
  try {
    await request.append?.(entry);
  } catch (error) {
    return { kind: "failed", why: `the summary could not be stored: ${messageOf(error)}` };
  }
  const outcome = { messageCount: plan.kept + 1, tokenCount: tokensAfter, compactedCount: messages, ...file };
  await hooks?.run("after_compaction", outcome, hookContext, whileIt);
  return { kind: "compacted", entry, tokensBefore: plan.tokensBefore, tokensAfter, messages, ...(byRule === undefined ? {} : { byRule }) };
}

/** The summary with everything that is pinned to it, within `maxChars`. */
async function written(
  request: CompactRequest,
  plan: CompactionPlan,
  maxChars: number,
): Promise<{ readonly entry: CompactionFields; readonly byRule?: string }> {
  const { settings, window, budget = window, instructions, clock, signal } = request;
  const gone = [...plan.history, ...plan.turnStart];
  const standing = standingInstructions(gone, plan.previous?.standing);
  const rules = request.agentsFile === undefined ? [] : sectionsOf(request.agentsFile, settings.postCompactionSections);
  const pinned = pinnedText({ files: plan.files, standing, pending: request.pending ?? [], rules }, maxChars);
  const late = new AbortController();
  using _deadline = clock.after(DEADLINE_MS, () => late.abort());
  const questions: Questions = {
    ask: request.ask,
    left: request.reason === "overflow" ? MAX_QUESTIONS_ON_OVERFLOW : MAX_QUESTIONS,
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
  };
  const work: SummaryWork = { questions, settings, window: Math.min(window, budget), instructions };
  const { text, byRule } = await summaryText(work, plan, Math.max(LEAST_SUMMARY_CHARS, maxChars - pinned.length));
  const summary = [text, pinned].filter((part) => part !== "").join("\n\n");
  const details = { readFiles: plan.files.read, modifiedFiles: plan.files.modified, standing };
  const entry: CompactionFields = { summary, firstKeptEntryId: plan.firstKeptEntryId, tokensBefore: plan.tokensBefore, details };
  return byRule ? { entry, byRule: questions.ended ?? "the history was too long" } : { entry };
}

/** Share of the characters for the beginning of a turn that was split. */
const TURN_SHARE = 0.35;

async function summaryText(work: SummaryWork, plan: CompactionPlan, maxChars: number): Promise<{ readonly text: string; readonly byRule: boolean }> {
  const previous = plan.previous?.text || undefined;
  const split = plan.turnStart.length > 0;
  const hasHistory = plan.history.length > 0 || previous !== undefined;
  const turnChars = split ? Math.floor(hasHistory ? maxChars * TURN_SHARE : maxChars) : 0;
  const history = hasHistory ? await summariseHistory(work, plan.history, previous, maxChars - turnChars) : undefined;
  const turn = split ? await summariseTurn(work, plan.turnStart, turnChars) : undefined;
  const text = [history?.text, turn && `**Turn Context (split turn):**\n\n${turn.text}`]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n---\n\n");
  return { text, byRule: history?.byRule === true || turn?.byRule === true };
}

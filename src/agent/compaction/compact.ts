import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { HookContext, Hooks } from "../../hooks/index.ts";
import { pathItem, tokensOfChars, view, type CompactionFields, type PathItem } from "../../sessions/index.ts";
import { pinnedText } from "./pinned.ts";
import { planCompaction, type CompactionPlan } from "./plan.ts";
import type { Ask, Desk } from "./question.ts";
import { sectionsOf } from "./sections.ts";
import { compactionSizes, type CompactionSettings } from "./settings.ts";
import { standingInstructions } from "./standing.ts";
import { summariseHistory, summariseTurn, type SummaryWork } from "./summarise.ts";

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
  /** Makes the entry durable before `after_compaction` is told. Without it the caller appends what is returned. */
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
  const place = request.sessionFile === undefined ? {} : { sessionFile: request.sessionFile };
  const whileIt = signal ? { signal } : {};
  const said = [...plan.history, ...plan.turnStart].flatMap(({ message }) => (message ? [message] : []));
  const about = { messageCount: messages + plan.kept, compactingCount: messages, tokenCount: plan.tokensBefore, messages: said, ...place };
  await hooks?.run("before_compaction", about, hookContext, whileIt);
  const { entry, byRule } = await written(request, plan, Math.max(LEAST_SUMMARY_CHARS, Math.floor(sizes.summary / scale) * CHARS_PER_TOKEN));
  if (signal?.aborted) return ABORTED;
  if (tokensOfChars(entry.summary.length) >= plan.compactedTokens) return { kind: "nothing", why: "a summary would not be shorter than what it stands for" };
  const after = [...path, pathItem({ type: "compaction", ...entry })];
  const tokensAfter = view({ path: after, model: { provider: "", id: "", contextWindow: window }, now: request.clock.now() }).estimate;
  try {
    await request.append?.(entry);
  } catch (error) {
    return { kind: "failed", why: `the summary could not be stored: ${messageOf(error)}` };
  }
  const outcome = { messageCount: plan.kept + 1, tokenCount: tokensAfter, compactedCount: messages, ...place };
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
  const desk: Desk = {
    ask: request.ask,
    left: request.reason === "overflow" ? MAX_QUESTIONS_ON_OVERFLOW : MAX_QUESTIONS,
    signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal,
  };
  const work: SummaryWork = { desk, settings, window: Math.min(window, budget), instructions };
  const room = Math.max(LEAST_SUMMARY_CHARS, maxChars - pinned.length);
  const { text, byRule } = await words(work, plan, room);
  const summary = [text, pinned].filter((part) => part !== "").join("\n\n");
  const details = { readFiles: plan.files.read, modifiedFiles: plan.files.modified, standing };
  const entry: CompactionFields = { summary, firstKeptEntryId: plan.firstKeptEntryId, tokensBefore: plan.tokensBefore, details };
  return byRule ? { entry, byRule: desk.ended ?? "the history was too long" } : { entry };
}

/** Share of the room for the beginning of a turn that was split. */
const TURN_SHARE = 0.35;

async function words(work: SummaryWork, plan: CompactionPlan, room: number): Promise<{ readonly text: string; readonly byRule: boolean }> {
  const previous = plan.previous?.text || undefined;
  const split = plan.turnStart.length > 0;
  const hasHistory = plan.history.length > 0 || previous !== undefined;
  const turnRoom = split ? Math.floor(hasHistory ? room * TURN_SHARE : room) : 0;
  const history = hasHistory ? await summariseHistory(work, plan.history, previous, room - turnRoom) : undefined;
  const turn = split ? await summariseTurn(work, plan.turnStart, turnRoom) : undefined;
  const text = [history?.text, turn && `**Turn Context (split turn):**\n\n${turn.text}`]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n---\n\n");
  return { text, byRule: history?.byRule === true || turn?.byRule === true };
}

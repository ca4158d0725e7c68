import { join } from "node:path";
import { compactionEntry, contextOf, tokensOfChars, usageAfterCompaction, type NewEntry, type EntryPosition } from "../../sessions/index.ts";
import type { AgentHookContext } from "../../hooks/index.ts";
import type { ModelMessage } from "../../protocol/index.ts";
import type { ModelEntry } from "../../models/index.ts";
import type { Write } from "../../store/index.ts";
import {
  compact,
  compactionSettings,
  cutResultsTo,
  ROUNDS_WITH_MODEL,
  shrinkPath,
  type Ask,
  type CompactRequest,
  type CompactResult,
} from "../compaction/index.ts";
import type { TurnTarget } from "./begin.ts";
import type { TurnDeps } from "./deps.ts";
import { overspent, usageRow, type ChosenModel, type Payer } from "./model.ts";
import type { Draft } from "./record.ts";

/** Dependencies of a compaction. */
export interface CompactorOptions {
  readonly input: Payer;
  readonly target: Pick<TurnTarget, "entry" | "sessionId" | "file">;
  readonly chosen: ChosenModel;
  readonly context: AgentHookContext;
  readonly agentsFile?: string | undefined;
  readonly signal: AbortSignal;
  /** Tokens of the system prompt and the tools, and how many times more the provider counts than we guess. Nothing when absent. */
  readonly measure?: () => Measure;
  /** Appends lines and writes in one commit. */
  readonly append: (drafts: readonly Draft[], writes: readonly Write[]) => Promise<void>;
}

export interface Measure {
  readonly overhead: number;
  readonly scale: number;
}

/** Makes a conversation smaller: summarises the older part, then shortens long tool results. */
export interface Compactor {
  compact(reason: CompactRequest["reason"], instructions?: string): Promise<CompactResult>;
  /** After the provider refused a request of so many tokens. True when the transcript shows less of the conversation now. */
  afterOverflow(sentTokens: number): Promise<boolean>;
}

/** Share of the context window that is free after a compaction. */
const FREE_SHARE = 0.25;
const UNMEASURED: Measure = { overhead: 0, scale: 1 };

export function createCompactor(deps: TurnDeps, options: CompactorOptions): Compactor {
  const { clock, session, hooks, config } = deps;
  const { input, target, chosen, context, signal, append } = options;
  const { file } = target;
  const window = chosen.selection.contextWindow.tokens;
  let { entry } = target;
  let overflows = 0;

  async function make(reason: CompactRequest["reason"], over: Pick<CompactRequest, "instructions" | "budget" | "ask">): Promise<CompactResult> {
    const path = await session.path(file);
    const measure = options.measure?.() ?? UNMEASURED;
    const done = await compact({
      path: path.items,
      window,
      settings: compactionSettings(config.current.agents?.defaults?.compaction),
      reason,
      ...measure,
      ...over,
      pending: deps.pendingWork?.(input.sessionKey),
      agentsFile: options.agentsFile,
      hooks,
      hookContext: { ...context },
      sessionFile: join(deps.stateDir, file),
      append: async (fields) => {
        const patch = usageAfterCompaction(entry, undefined);
        entry = { ...entry, ...patch };
        await append([(position) => compactionEntry(position, fields)], [["sessions.patch", { key: input.sessionKey, patch }]]);
      },
      clock,
      signal,
    });
    if (done.kind === "compacted") await freeEnough(over.budget ?? window, done.tokensAfter, measure);
    return done;
  }

  /** What stayed may hold long results: they are shown shorter, so that the next compaction is not due at once. */
  async function freeEnough(budget: number, tokensAfter: number, { overhead, scale }: Measure): Promise<void> {
    const excess = Math.ceil((overhead + tokensAfter * scale - budget * (1 - FREE_SHARE)) / scale);
    if (excess <= 0) return;
    const { items } = await session.path(file);
    const results = contextOf(items).pieces.reduce((sum, { message, chars }) => sum + (message.role === "toolResult" ? tokensOfChars(chars) : 0), 0);
    const tokens = Math.max(0, results - excess);
    await appendCut((position) => cutResultsTo(items, window, tokens, position));
  }

  /** Appends a line that shows less of results, if there is one to append. */
  async function appendCut(draft: (position: EntryPosition) => NewEntry | undefined): Promise<boolean> {
    const line = draft({ ids: deps.ids, parentId: null, at: clock.now() });
    if (!line) return false;
    // The line itself is made again where it is appended, below the leaf.
    await append([(position) => draft(position) ?? line], []);
    return true;
  }

  return {
    compact: (reason, instructions) => make(reason, { instructions, ask: asker(deps, options) }),
    async afterOverflow(sentTokens) {
      overflows += 1;
      const budget = Math.floor(Math.min(window, sentTokens) / 2);
      const done = await make("overflow", { budget, ask: overflows <= ROUNDS_WITH_MODEL ? asker(deps, options) : undefined });
      if (done.kind === "compacted") return true;
      deps.log.warn(`a conversation that is too long could not be compacted: ${done.why}`, { sessionKey: input.sessionKey });
      const path = await session.path(file);
      return appendCut((position) => shrinkPath(path.items, window, position)?.entry);
    },
  };
}

/** Asks the turn's model for a summary, without tools and thoughts. */
function asker(deps: TurnDeps, { chosen, input, target }: CompactorOptions): Ask {
  return async ({ system, prompt, maxTokens, signal }) => {
    const { clock, store, log } = deps;
    const started = clock.monotonic();
    const { runId, agentId, sessionKey } = input;
    const messages: ModelMessage[] = [{ role: "user", content: prompt, timestamp: clock.now() }];
    const request = {
      runId,
      agentId,
      sessionKey,
      sessionId: target.sessionId,
      models: chosen.tried,
      thinking: "off",
      systemPrompt: system,
      messages,
      maxTokens,
      signal,
    } as const;
    const permit = (model: ModelEntry): Promise<string | undefined> => overspent(deps, input, model);
    for await (const event of chosen.models.call(agentId, { ...request, permit })) {
      if (event.type !== "done") continue;
      const { result } = event;
      const row = usageRow(input, result.message, clock.monotonic() - started);
      await store.write("usage.add", row).catch((error: unknown) => log.warn("the cost of a summary could not be stored", { error }));
      if (!result.ok) return { ok: false, kind: result.kind, text: result.text };
      return { ok: true, text: result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("") };
    }
    return { ok: false, kind: "unknown", text: "the model returned no answer" };
  };
}

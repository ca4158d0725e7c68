import { join } from "node:path";
import { compactionEntry, contextOf, tokensOfChars, usageAfterCompaction, type SessionPath } from "../../sessions/index.ts";
import type { ModelMessage, SessionEntry } from "../../protocol/index.ts";
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
import type { ChosenModel } from "./choose-model.ts";
import type { TurnDeps } from "./deps.ts";
import type { AgentContext } from "./hook-context.ts";
import type { TurnInput } from "./input.ts";
import type { Draft } from "./record.ts";
import { overspent } from "./budget.ts";
import { usageRow } from "./usage.ts";

/** What a conversation is made smaller with. */
export interface RoomMakerInput {
  readonly input: Pick<TurnInput, "agentId" | "sessionKey" | "runId" | "channel" | "senderId">;
  readonly entry: SessionEntry;
  readonly sessionId: string;
  readonly file: string;
  readonly chosen: ChosenModel;
  readonly context: AgentContext;
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

/** Makes room in a conversation: sums up what is old, and at last shows less of long results. */
export interface RoomMaker {
  compact(reason: CompactRequest["reason"], instructions?: string): Promise<CompactResult>;
  /** After the provider refused a request of so many tokens. True when the transcript shows less of the conversation now. */
  afterOverflow(sentTokens: number): Promise<boolean>;
}

/** Of the window, what is free after a compaction at least. */
const FREE_SHARE = 0.25;
const UNMEASURED: Measure = { overhead: 0, scale: 1 };

export function createRoomMaker(deps: TurnDeps, at: RoomMakerInput): RoomMaker {
  const { clock, session, hooks, config } = deps;
  const { file, chosen, context, signal } = at;
  const window = chosen.selection.contextWindow.tokens;
  let { entry } = at;
  let overflows = 0;

  async function make(reason: CompactRequest["reason"], over: Pick<CompactRequest, "instructions" | "budget" | "ask">): Promise<CompactResult> {
    const path: SessionPath = await session.path(file);
    const measure = at.measure?.() ?? UNMEASURED;
    const done = await compact({
      path: path.items,
      window,
      settings: compactionSettings(config.current.agents?.defaults?.compaction),
      reason,
      ...measure,
      ...over,
      pending: deps.pendingWork?.(at.input.sessionKey),
      agentsFile: at.agentsFile,
      hooks,
      hookContext: context.agent(),
      sessionFile: join(deps.stateDir, file),
      append: async (fields) => {
        const patch = usageAfterCompaction(entry, undefined);
        entry = { ...entry, ...patch };
        await at.append([(place) => compactionEntry(place, fields)], [["sessions.patch", { key: at.input.sessionKey, patch }]]);
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
    const target = Math.max(0, results - excess);
    if (!cutResultsTo(items, window, target, { ids: deps.ids, parentId: null, at: clock.now() })) return;
    await at.append([(place) => cutResultsTo(items, window, target, place)!], []);
  }

  return {
    compact: (reason, instructions) => make(reason, { instructions, ask: asker(deps, at) }),
    async afterOverflow(sentTokens) {
      overflows += 1;
      const budget = Math.floor(Math.min(window, sentTokens) / 2);
      const done = await make("overflow", { budget, ask: overflows <= ROUNDS_WITH_MODEL ? asker(deps, at) : undefined });
      if (done.kind === "compacted") return true;
      deps.log.warn(`a conversation that is too long could not be summed up: ${done.why}`, { sessionKey: at.input.sessionKey });
      const path = await session.path(file);
      // Only whether it helps; the line itself is made where it is hung.
      if (!shrinkPath(path.items, window, { ids: deps.ids, parentId: null, at: clock.now() })) return false;
      await at.append([(place) => shrinkPath(path.items, window, place)!.entry], []);
      return true;
    },
  };
}

/** Asks the turn's model for a summary, without tools and thoughts. */
function asker(deps: TurnDeps, { chosen, input, sessionId }: RoomMakerInput): Ask {
  return async ({ system, prompt, maxTokens, signal }) => {
    const { clock, store, log } = deps;
    const started = clock.monotonic();
    const { runId, agentId, sessionKey } = input;
    const messages: ModelMessage[] = [{ role: "user", content: prompt, timestamp: clock.now() }];
    const request = {
      runId,
      agentId,
      sessionKey,
      sessionId,
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
      await store.write("usage.add", row).catch((error: unknown) => log.warn("the cost of a summary could not be kept", { error }));
      if (!result.ok) return { ok: false, kind: result.kind, text: result.text };
      return { ok: true, text: result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("") };
    }
    return { ok: false, kind: "unknown", text: "the model gave no answer" };
  };
}

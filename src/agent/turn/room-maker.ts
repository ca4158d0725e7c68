import { compactionEntry, usageAfterCompaction, type SessionPath } from "../../sessions/index.ts";
import type { ModelMessage, SessionEntry } from "../../protocol/index.ts";
import type { ModelEntry } from "../../models/index.ts";
import type { Write } from "../../store/index.ts";
import { compact, compactionSettings, MAX_OVERFLOW_COMPACTIONS, shrinkPath, type Ask, type CompactRequest, type CompactResult } from "../compaction/index.ts";
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
  /** Appends lines and writes in one commit. */
  readonly append: (drafts: readonly Draft[], writes: readonly Write[]) => Promise<void>;
}

/** Makes room in a conversation: sums up what is old, and at last shows less of long results. */
export interface RoomMaker {
  compact(reason: CompactRequest["reason"], instructions?: string): Promise<CompactResult>;
  /** After the provider refused the conversation as too long. False when nothing more can be done. */
  afterOverflow(): Promise<boolean>;
}

export function createRoomMaker(deps: TurnDeps, at: RoomMakerInput): RoomMaker {
  const { clock, memory, hooks, config } = deps;
  const { file, chosen, context, signal } = at;
  const window = chosen.selection.contextWindow.tokens;
  let { entry } = at;
  let overflows = 0;

  async function make(reason: CompactRequest["reason"], instructions?: string): Promise<CompactResult> {
    const path: SessionPath = await memory.path(file);
    return compact({
      path: path.items,
      window,
      settings: compactionSettings(config.current.agents?.defaults?.compaction),
      reason,
      instructions,
      pending: deps.pendingWork?.(at.input.sessionKey),
      agentsFile: at.agentsFile,
      ask: asker(deps, at),
      hooks,
      hookContext: context.agent(),
      sessionFile: file,
      append: async (fields) => {
        const patch = usageAfterCompaction(entry, undefined);
        entry = { ...entry, ...patch };
        await at.append([(place) => compactionEntry(place, fields)], [["sessions.patch", { key: at.input.sessionKey, patch }]]);
      },
      clock,
      signal,
    });
  }

  return {
    compact: make,
    async afterOverflow() {
      overflows += 1;
      if (overflows <= MAX_OVERFLOW_COMPACTIONS) {
        const done = await make("overflow");
        if (done.kind === "compacted") return true;
        overflows = MAX_OVERFLOW_COMPACTIONS;
        deps.log.warn(`a conversation that is too long could not be summed up: ${done.why}`, { sessionKey: at.input.sessionKey });
      }
      if (overflows > MAX_OVERFLOW_COMPACTIONS + 1) return false;
      overflows = MAX_OVERFLOW_COMPACTIONS + 1;
      const path = await memory.path(file);
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

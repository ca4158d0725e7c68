import { messageOf } from "../../base/errors.ts";
import type { SessionEntry } from "../../protocol/index.ts";
import type { Write } from "../../store/index.ts";
import { compactionSettings, memoryFlushDue, memoryFlushed, memoryFlushPrompts, memoryFlushThreshold } from "../compaction/index.ts";
import { userTimeZone } from "../prompt/facts.ts";
import { transcriptOf } from "./fork.ts";
import { createCompactor } from "./compactor.ts";
import type { TurnDeps } from "./deps.ts";
import { hookContext } from "./hooks.ts";
import type { TurnEnd, TurnInput, TurnPorts } from "./input.ts";
import { chooseModel } from "./model.ts";
import { TurnRecord, type Draft } from "./record.ts";
import { runTurn } from "./turn.ts";

/** A session whose conversation is to be summed up. */
export interface CompactionWish {
  readonly agentId: string;
  readonly sessionKey: string;
  /** What the summary should look at. */
  readonly instructions?: string;
  readonly signal: AbortSignal;
}

export type CompactionOutcome =
  | { readonly compacted: true; readonly tokensBefore: number; readonly tokensAfter: number; readonly byRule?: string }
  | { readonly compacted: false; readonly reason: string };

/** Writes a summary, as asked for. */
export async function compactSession(deps: TurnDeps, { agentId, sessionKey, instructions, signal }: CompactionWish): Promise<CompactionOutcome> {
  const { store, ids } = deps;
  const session = await store.read("sessions.get", { key: sessionKey });
  const row = session && (await transcriptOf(deps, agentId, session.entry.sessionId));
  if (!session || !row) return { compacted: false, reason: "there is no conversation in this session yet" };
  const { entry } = session;
  const { sessionId } = entry;
  const workspaceDir = await deps.workspace(agentId);
  const input = inputFor({ agentId, sessionKey, runId: ids.uuid() }, entry);
  const context = hookContext(input, sessionId, workspaceDir);
  const chosen = await chooseModel(deps, input, entry, { context });
  const target = { sessionId, file: row.file, entry, path: await deps.session.path(row.file, row) };
  const record = new TurnRecord(deps, input, target);
  const files = await deps.readFiles({ folder: workspaceDir, which: "few" });
  const agentsFile = files.find(({ name }) => name === "AGENTS.md")?.content;
  const append = (drafts: readonly Draft[], writes: readonly Write[]): Promise<void> => record.now(drafts, writes);
  const compactor = createCompactor(deps, { target, input, chosen, context, agentsFile, signal, append });
  const done = await compactor.compact("manual", instructions);
  if (done.kind !== "compacted") return { compacted: false, reason: done.why };
  const { tokensBefore, tokensAfter, byRule } = done;
  await store.write("sessions.patch", { key: sessionKey, patch: { totalTokens: tokensAfter, totalTokensFresh: true } });
  return { compacted: true, tokensBefore, tokensAfter, ...(byRule === undefined ? {} : { byRule }) };
}

function inputFor(who: Pick<TurnInput, "agentId" | "sessionKey" | "runId">, entry: SessionEntry): TurnInput {
  return { ...who, message: "", channel: entry.lastChannel ?? "webchat", owner: false, inboxIds: [], resumed: false };
}

/** A silent turn that writes down what matters, when a conversation will soon have to be summed up. */
export async function flushMemory(deps: TurnDeps, input: TurnInput, end: TurnEnd, ports: Pick<TurnPorts, "signal" | "stopping">): Promise<void> {
  const { agentId, sessionKey } = input;
  const defaults = deps.config.current.agents?.defaults;
  const settings = compactionSettings(defaults?.compaction);
  const last = end.usage.at(-1);
  const tokens = last ? last.input + last.cacheRead + last.cacheWrite : 0;
  // Far from the limit, as the turn itself knows, the store does not have to be asked.
  if (ports.stopping.aborted || end.window === undefined || tokens < memoryFlushThreshold(end.window, settings)) return;
  const session = await deps.store.read("sessions.get", { key: sessionKey });
  const window = session?.entry.contextTokens;
  if (!session || window === undefined) return;
  const sandbox = deps.sandbox?.({ agentId, sessionKey });
  const workspaceWritable = !sandbox?.sandboxed || sandbox.workspaceAccess === "rw";
  if (!memoryFlushDue({ entry: session.entry, window, settings, workspaceWritable })) return;
  const timeZone = userTimeZone(defaults?.userTimezone, deps.timezone);
  const { prompt, systemPrompt } = memoryFlushPrompts({ settings, now: deps.clock.now(), timeZone });
  const flush: TurnInput = { ...inputFor({ agentId, sessionKey, runId: `${input.runId}:memory-flush` }, session.entry), message: prompt, systemPrompt };
  try {
    const end = await runTurn(deps, flush, { ...ports, emit: () => {}, origin: () => "rpc" });
    if (end) await deps.store.write("sessions.patch", { key: sessionKey, patch: memoryFlushed(session.entry, deps.clock.now()) });
  } catch (error) {
    deps.log.warn(`notes could not be written before compaction: ${messageOf(error)}`, { sessionKey });
  }
}

import type { TurnInput } from "../../agent/index.ts";
import type { HookLog } from "../../hooks/index.ts";
import type { ReplyCounts, ReplyDispatcher, ReplyKind, ReplyPayload } from "../../protocol/index.ts";
import type { Write } from "../../store/index.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { messageContext } from "../intake/message-context.ts";
import type { ConversationDeps } from "../ports.ts";
import type { ChannelRun } from "./channel-turn.ts";
import { closeTurn } from "./run-log.ts";

/** Collects what a plugin says in the agent's place; it is sent once the plugin is done. */
function collector(): { readonly dispatcher: ReplyDispatcher; readonly said: readonly ReplyPayload[] } {
  const said: ReplyPayload[] = [];
  const counts: ReplyCounts = { tool: 0, block: 0, final: 0 };
  const add =
    (kind: ReplyKind) =>
    (payload: ReplyPayload): boolean => {
      said.push(payload);
      counts[kind] += 1;
      return true;
    };
  return {
    said,
    dispatcher: {
      sendToolResult: add("tool"),
      sendBlockReply: add("block"),
      sendFinalReply: add("final"),
      waitForIdle: async () => {},
      getQueuedCounts: () => ({ ...counts }),
      markComplete: () => {},
    },
  };
}

/** `reply_dispatch`: a plugin may take a turn over. True: it did, and that is the end of it, on disk. */
export async function dispatchedElsewhere(run: ChannelRun, input: TurnInput, deps: ConversationDeps, hookLog: HookLog, facts: OutgoingFacts): Promise<boolean> {
  if (run.resumed || !deps.hooks.has("reply_dispatch")) return false;
  const last = run.items.at(-1)!.messages.at(-1)!;
  const { dispatcher, said } = collector();
  const { runId, sessionKey, agentId } = run;
  const { channel, to } = last.address;
  const event = {
    ctx: { ...messageContext(last) } as Record<string, unknown>,
    runId,
    sessionKey,
    sendPolicy: "allow" as const,
    dispatchKind: "agent",
    isHeartbeat: false,
    originatingChannel: channel,
    originatingTo: to,
  };
  const taken = await hookLog.hooks.run("reply_dispatch", event, { cfg: structuredClone(deps.config.current), dispatcher, abortSignal: run.abort.signal });
  if (!taken?.handled) return false;
  const { shapePayload } = await import("../reply/index.ts");
  const shape = { localRoots: deps.mediaRoots?.(agentId) ?? [], currentId: last.event.id };
  const spoken = said.flatMap((payload) => shapePayload(payload, shape) ?? []);
  const writes: readonly Write[] = spoken.length === 0 ? [] : (await deps.delivery.prepare(last.address, spoken, facts)).writes;
  const text = spoken.flatMap((payload) => (payload.text === undefined ? [] : [payload.text])).join("\n");
  const result = { status: "ok", text, sessionId: "", durationMs: 0 } as const;
  const outcome = spoken.length === 0 ? "silent" : "answered";
  const why = `taken over by ${taken.decidedBy ?? "a plugin"}`;
  await closeTurn(deps, { runId, sessionKey, agentId, inboxIds: input.inboxIds, outcome, why, result, writes, hooks: hookLog.entries });
  deps.delivery.kick();
  return true;
}

import type { TurnInput } from "../../agent/index.ts";
import { messageTrace, type HookLog } from "../../hooks/index.ts";
import type { ReplyCounts, ReplyDispatcher, ReplyKind, ReplyPayload } from "../../protocol/index.ts";
import { gatewayMessage } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { traceOfMessage } from "../intake/inbound-hooks.ts";
import type { Inbound } from "../intake/inbound-record.ts";
import { messageContext } from "../intake/message-context.ts";
import type { ConversationDeps } from "../ports.ts";
import type { ChannelRun } from "./channel-turn.ts";
import { closeTurn } from "./run-log.ts";
import { noteWrites } from "./transcript-note.ts";

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

/** A turn that is about to be answered. */
interface Dispatching {
  readonly runId: string;
  readonly sessionKey: string;
  readonly agentId: string;
  /** The message that is answered; the newest, where there are several. */
  readonly last: Inbound;
  readonly signal: AbortSignal;
}

/** What a plugin says in the agent's place. */
interface TakenOver {
  readonly reply: readonly ReplyPayload[];
  readonly outcome: "answered" | "silent";
  readonly why: string;
}

/** `reply_dispatch`: a plugin may take a turn over. Undefined: nobody does. */
export async function takenOver(
  { runId, sessionKey, agentId, last, signal }: Dispatching,
  deps: ConversationDeps,
  hookLog: HookLog,
): Promise<TakenOver | undefined> {
  if (!deps.hooks.has("reply_dispatch")) return undefined;
  const { dispatcher, said } = collector();
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
  const { trace } = messageTrace(traceOfMessage(last));
  const taken = await hookLog.hooks.run("reply_dispatch", event, { cfg: structuredClone(deps.config.current), dispatcher, abortSignal: signal, trace });
  if (!taken?.handled) return undefined;
  const { shapePayload } = await import("../reply/index.ts");
  const shape = { localRoots: deps.mediaRoots?.(agentId) ?? [], currentId: last.event.id };
  const reply = said.flatMap((payload) => shapePayload(payload, shape) ?? []);
  return { reply, outcome: reply.length === 0 ? "silent" : "answered", why: `taken over by ${taken.decidedBy ?? "a plugin"}` };
}

/** The same for a turn that answers a channel. True: a plugin took it over, and that is the end of it, on disk. */
export async function dispatchedElsewhere(run: ChannelRun, input: TurnInput, deps: ConversationDeps, hookLog: HookLog, facts: OutgoingFacts): Promise<boolean> {
  if (run.resumed) return false;
  const { runId, sessionKey, agentId } = run;
  const last = run.items.at(-1)!.messages.at(-1)!;
  const taken = await takenOver({ runId, sessionKey, agentId, last, signal: run.abort.signal }, deps, hookLog);
  if (!taken) return false;
  const { reply, outcome, why } = taken;
  const prepared = reply.length === 0 ? undefined : await deps.delivery.prepare(last.address, reply, facts);
  const writes: readonly Write[] = prepared?.writes ?? [];
  const text = (prepared?.decided ?? reply.flatMap((payload) => payload.text ?? [])).join("\n");
  const result = { status: "ok", text, sessionId: "", durationMs: 0 } as const;
  const closed = { runId, sessionKey, agentId, inboxIds: input.inboxIds, outcome, why, result, writes, hooks: hookLog.entries };
  // The session's history tells what was asked and what the chat was sent.
  const noted = text === "" ? [] : await noteWrites(deps, closed, (at) => gatewayMessage("gateway-injected", text, at), input);
  // The transcript may have grown in between: then the answer is sent and not stored there.
  await closeTurn(deps, { ...closed, writes: [...writes, ...noted] }).catch(() => closeTurn(deps, closed));
  deps.delivery.kick();
  return true;
}

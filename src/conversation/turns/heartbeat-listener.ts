/** Heartbeats: nothing is shown before it is known whether there is something to tell; what is not worth telling is forgotten. */
import type { ShownReplies, TurnEnd } from "../../agent/index.ts";
import { clip } from "../../base/text.ts";
import { heartbeatVisibility } from "../../config/index.ts";
import type { ReplyPayload, SessionEntry } from "../../protocol/index.ts";
import { gatewayMessage, KEPT, SYSTEM_EVENTS } from "../../sessions/index.ts";
import type { Write } from "../../store/index.ts";
import { emitEnd, noteWrites } from "../closing.ts";
import type { HeartbeatResult } from "../contract.ts";
import type { Item, Listener, Turn, TurnStream } from "../items.ts";
import type { ConversationContext, ConversationDeps } from "../ports.ts";
import { channelPayloads, clientListener, replyOf } from "./client-listener.ts";

const DUPLICATE_MS = 24 * 3_600_000;
const PREVIEW_CHARS = 200;
const ACK = "HEARTBEAT_OK";
const NOTE_ATTEMPTS = 5;

interface Verdict {
  readonly result: HeartbeatResult;
  /** What is sent. */
  readonly payloads: readonly ReplyPayload[];
  /** The conversation goes on as if nothing had happened. */
  readonly isForgotten: boolean;
}

const hasMedia = ({ mediaUrl, mediaUrls }: ReplyPayload): boolean => mediaUrl !== undefined || (mediaUrls?.length ?? 0) > 0;

/** The text was sent a short time ago, and nothing comes with it. */
function isRepeated(payload: ReplyPayload, entry: SessionEntry | undefined, now: number): boolean {
  const sentAt = entry?.["lastHeartbeatSentAt"];
  return !hasMedia(payload) && payload.text?.trim() === entry?.["lastHeartbeatText"] && typeof sentAt === "number" && now - sentAt < DUPLICATE_MS;
}

/** What becomes of the answer. Only its last message counts, with the reasoning before it where that is wanted. */
async function judge(item: Item, entry: SessionEntry | undefined, end: TurnEnd, deps: ConversationDeps): Promise<Verdict> {
  const { request, last } = item;
  const isNothing = end.status === "failed" && end.failure?.trouble === "empty answer";
  if (end.status !== "ok" && !isNothing) return { result: { status: "failed", reason: end.error ?? end.status }, payloads: [], isForgotten: true };
  const address = request?.reply ?? last.address;
  const shows = heartbeatVisibility(deps.config.current, address.channel, address.accountId);
  const all = isNothing ? [] : await channelPayloads(item, end, deps, { address, isHeartbeat: request?.heartbeat?.isRelay !== true });
  const isThought = ({ text }: ReplyPayload): boolean => text?.startsWith("Reasoning:") === true;
  const payload = all.findLast((one) => !isThought(one));
  if (!payload) {
    const isEmpty = end.text.trim() === "" || end.silent === true;
    const ack = shows.showOk && request?.heartbeat?.isSilent !== true;
    return { result: { status: isEmpty ? "ok-empty" : "ok-token", isShown: ack }, payloads: ack ? [{ text: ACK }] : [], isForgotten: true };
  }
  const about = { preview: clip(payload.text ?? "", PREVIEW_CHARS), ...(hasMedia(payload) ? { hasMedia: true } : {}) };
  const isOldNews = request?.heartbeat?.hasNews !== true && isRepeated(payload, entry, deps.clock.now());
  if (isOldNews) return { result: { status: "skipped", reason: "duplicate", ...about }, payloads: [], isForgotten: true };
  const why = request?.heartbeat?.isSilent === true ? "no-target" : shows.showAlerts ? undefined : "alerts-disabled";
  if (why !== undefined) return { result: { status: "skipped", reason: why, ...about }, payloads: [], isForgotten: false };
  return { result: { status: "sent", ...about }, payloads: [...all.filter(isThought), payload], isForgotten: false };
}

/** A session remembers what was sent last, and one outside which the heartbeat ran learns of it. */
function remembered({ request, sessionKey }: Item, text: string, { clock, ids }: ConversationDeps): readonly Write[] {
  const main = request?.heartbeat?.main;
  const patch = { lastHeartbeatText: text.trim(), lastHeartbeatSentAt: clock.now() };
  const writes: Write[] = [["sessions.merge", { key: main ?? sessionKey, patch }]];
  if (main === undefined || !request?.reply) return writes;
  const line = `A heartbeat sent the user this: ${text.trim()}`;
  return [...writes, ["injections.add", { id: ids.uuid(), sessionKey: main, pluginId: SYSTEM_EVENTS, placement: "system-event", text: line, payload: KEPT }]];
}

/** Shows in the main session what a heartbeat outside it found, where only clients see it. Another writer may be faster: it is tried again. */
async function noteInMain(item: Item, text: string, deps: ConversationDeps): Promise<void> {
  const main = item.request?.heartbeat?.main;
  if (main === undefined || item.request?.reply) return;
  for (let attempt = 0; attempt < NOTE_ATTEMPTS; attempt += 1) {
    const writes = await noteWrites(deps, { sessionKey: main, agentId: item.agentId }, (at) => gatewayMessage("gateway-injected", text, at));
    if (writes.length === 0) return;
    const done = await deps.store.commit(writes).then(
      () => true,
      () => false,
    );
    if (done) return;
  }
  deps.log.warn("the result of a heartbeat could not be added to the main session", { sessionKey: main });
}

async function openStream(turn: Turn, entry: SessionEntry | undefined, { deps, emit }: ConversationContext): Promise<TurnStream> {
  const { main } = turn;
  const run = { runId: main.id, sessionKey: main.sessionKey };
  const outside = main.request?.heartbeat?.main;
  let result: HeartbeatResult | undefined;
  let shown = "";
  let sent: (() => void) | undefined;

  async function finish(end: TurnEnd): Promise<ShownReplies> {
    const of = outside === undefined ? entry : (await deps.store.read("sessions.get", { key: outside }))?.entry;
    const verdict = await judge(main, of, end, deps);
    const { payloads } = verdict;
    const isForgotten = verdict.isForgotten || outside !== undefined;
    result = verdict.result;
    if (payloads.length === 0) return { writes: [], shown: "", isForgotten };
    const usageState = { provider: end.provider, model: end.model, usage: end.usage.at(-1) };
    const reply = await replyOf(deps, main, payloads, { kind: "final", usageState });
    sent = reply.sent;
    shown = reply.texts.join("\n\n");
    const text = payloads.at(-1)?.text ?? "";
    // A session that nothing was ever said in has nothing to remember it in.
    const isRemembered = result.status === "sent" && (outside === undefined || of !== undefined);
    const writes = [...reply.writes, ...(isRemembered ? remembered(main, text, deps) : [])];
    return { writes, shown, isForgotten };
  }

  return {
    event(event) {
      if (event.stream !== "assistant" && event.stream !== "thinking") emit(run, event);
    },
    finish,
    settled(end, outcome) {
      if (shown !== "") emit(run, { stream: "assistant", data: { text: shown, delta: shown } });
      emitEnd(turn, end, outcome, shown, emit);
      sent?.();
      if (result?.status === "sent") void noteInMain(main, shown, deps);
      return result ? { ...outcome, heartbeat: result } : outcome;
    },
    abandon: async () => {},
  };
}

export const heartbeatListener: Listener = { ...clientListener, open: openStream };

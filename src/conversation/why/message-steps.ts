import { isRecord } from "../../base/records.ts";
import type { HookLogEntry } from "../../hooks/index.ts";
import type { InboxRow, TurnRow } from "../../store/index.ts";
import type { InboundRecord } from "../inbound.ts";
import { quoted } from "./starts.ts";
import { given, type RunStart, type StoryStep } from "./story.ts";

/** What the row of a channel's message keeps; undefined for one of a client, or one that was taken out. */
export function recordOf(row: InboxRow): InboundRecord | undefined {
  const record = row.payload as InboundRecord | null;
  return record?.kind === "channel" ? record : undefined;
}

function received(row: InboxRow, start: RunStart | undefined): StoryStep {
  const record = recordOf(row);
  const base = { at: row.receivedAt, kind: "received" } as const;
  const details = given({
    inbox: row.id,
    messageId: row.messageId,
    channel: row.channel,
    account: row.account,
    conversation: row.conversation,
    sender: row.sender,
    chars: row.text.length,
  });
  if (record) {
    const { chat, media = [] } = record.event;
    const files = media.length === 0 ? "" : `, with ${media.length} ${media.length === 1 ? "file" : "files"}`;
    const text = `${row.kind} via ${row.channel} (account ${row.account}) in the ${chat.type} chat ${quoted(row.conversation)} from ${quoted(row.sender ?? "?")}${files}`;
    return { ...base, text, details };
  }
  const over = isRecord(row.payload) ? row.payload["channel"] : undefined;
  return {
    ...base,
    text:
      start?.text ?? (row.channel === "gateway" ? `message from a client${typeof over === "string" ? ` (${over})` : ""}` : `${row.kind} via ${row.channel}`),
    details: start ? { ...details, start: { ...start } } : details,
  };
}

/** A reason with the key of the configuration behind it, unless it names that already. */
export const withPath = (why: string, path: string | undefined): string => (path === undefined || why.includes(path) ? why : `${why} (${path})`);

function gate(row: InboxRow, { access }: InboundRecord): StoryStep[] {
  const refused = row.outcome === "refused" && row.turnId === null && row.why === access.why;
  if (access.why === "") return [];
  const text = `${refused ? "refused" : "allowed"}: ${withPath(access.why, access.path)}`;
  const { owner, commandAuthorized, wasMentioned, path } = access;
  return [{ at: row.receivedAt, kind: "gate", text, details: given({ path, owner, commandAuthorized, wasMentioned }) }];
}

function route(row: InboxRow, record: InboundRecord): StoryStep {
  const { matchedBy, path } = record.route;
  const text = `agent ${row.agentId ?? "?"}, session ${row.sessionKey ?? "?"}: ${matchedBy}${path === undefined ? "" : ` (${path})`}`;
  return { at: row.receivedAt, kind: "route", text, details: given({ matchedBy, path, agentId: row.agentId, sessionKey: row.sessionKey }) };
}

const MOST_NAMED = 20;

const DECISIONS: Readonly<Record<string, string>> = {
  ok: "no action",
  ignored: "invalid result, ignored",
  failed: "failed",
  timeout: "timed out",
  skipped: "skipped",
  decided: "decided",
};

/** What plugins said. Those of one dispatch were asked one after the other, and what is known is when the last of them was done. */
export function hookSteps(entries: readonly HookLogEntry[]): StoryStep[] {
  const ended: { readonly entry: HookLogEntry; readonly until: number }[] = [];
  for (const entry of entries.toReversed()) {
    const next = ended[0];
    const isSameDispatch = next?.entry.hook === entry.hook && next.entry.at === entry.at;
    ended.unshift({ entry, until: isSameDispatch ? next.until - next.entry.ms : entry.at });
  }
  return ended.map(({ entry: { hook, pluginId, ms, decision, said }, until }) => ({
    at: Math.round(until - ms),
    ms,
    kind: "hook",
    text: `${hook} by ${pluginId}: ${said ?? DECISIONS[decision] ?? decision}`,
    details: { hook, pluginId, decision, ...(said === undefined ? {} : { said }) },
  }));
}

/** What a message that waits waits for: messages of its session that came before it. */
function waits(row: InboxRow, inFront: readonly InboxRow[]): StoryStep {
  const runs = inFront.filter(({ state }) => state === "claimed");
  const queued = inFront.length - runs.length;
  const until = runs.length === 0 ? "" : ` until ${runs.map(({ id }) => `in:${id}`).join(", ")} ${runs.length === 1 ? "is" : "are"} answered`;
  const behind = queued === 0 ? "" : `${until === "" ? "" : ","} behind ${queued} ${until === "" ? "" : "other "}${queued === 1 ? "message" : "messages"}`;
  return {
    at: row.receivedAt,
    kind: "queue",
    text: inFront.length === 0 ? "queued, next in line" : `queued${until}${behind}`,
    details: given({ waiting: true, inFront: inFront.length, waitsFor: inFront.slice(0, MOST_NAMED).map(({ id }) => `in:${id}`), turnId: runs[0]?.turnId }),
  };
}

/** What a message has to do with others. */
export interface MessagePosition {
  /** Of a run that nobody wrote a message for. */
  readonly start: RunStart | undefined;
  readonly turn: TurnRow | undefined;
  /** Messages of its turn. */
  readonly together: readonly InboxRow[];
  /** Of a message that waits: those of its session before it. */
  readonly inFront: readonly InboxRow[];
}

/** From its arrival to the turn that answered it. */
export function messageSteps(row: InboxRow, { start, turn, together, inFront }: MessagePosition): StoryStep[] {
  const record = recordOf(row);
  const hooks = (row.payload as { readonly hooks?: readonly HookLogEntry[] } | null)?.hooks ?? [];
  const steps = [received(row, start), ...(record ? [...gate(row, record), route(row, record)] : []), ...hookSteps(hooks)];
  if (row.state === "pending") return [...steps, waits(row, inFront)];
  const merged = row.outcome === "merged";
  const began = merged ? row.settledAt : (turn?.startedAt ?? row.claimedAt);
  if (began !== null && began !== undefined) {
    steps.push({
      at: row.receivedAt,
      ms: Math.max(0, began - row.receivedAt),
      kind: "queue",
      text: merged ? "waited until the running turn read it" : "waited in the queue",
    });
  }
  if (merged)
    steps.push({
      at: row.settledAt ?? row.receivedAt,
      kind: "merged",
      text: `${row.why ?? "merged"}: turn ${row.turnId ?? "?"}`,
      details: given({ turnId: row.turnId }),
    });
  const beside = together.filter(({ id, outcome }) => id !== row.id && outcome !== "merged");
  if (beside.length > 0 && turn && !merged) {
    steps.push({
      at: turn.startedAt,
      kind: "merged",
      text: `answered together with ${beside.map(({ id }) => `in:${id}`).join(", ")}`,
      details: { inbox: beside.map(({ id }) => id) },
    });
  }
  return steps;
}

import type { Clock } from "../../base/clock.ts";
import { resolveInboundDebounceMs } from "../../channels/index.ts";
import type { ChannelPlugin, FinalizedMsgContext, HostConfig } from "../../protocol/index.ts";
import { chatOf, isLate, type Group, type Inbound } from "../inbound.ts";
import type { Item } from "../item.ts";
import { messageContext } from "./message-context.ts";

/** Messages that belong together are handed on together: parts of a long one, albums, what is written in quick succession. */
export interface Joining {
  /** `isControl`: it does not wait for others. */
  add(item: Item, isControl: boolean): void;
}

interface Waiting {
  readonly items: Item[];
  timer: Disposable;
}

/** Parts of one message, and messages that are one. More begin the next. */
const MAX_PARTS = 50;
/** Messages of a back-log that one turn answers, and how long the next of them is waited for. */
const MAX_LATE = 200;
const LATE_WAIT_MS = 1000;

interface Wait {
  readonly ms: number;
  readonly part: string;
  readonly most: number;
}

/** The name that messages of a back-log wait under. */
const LATE = "\0part\0late";
const NO_WAIT: Wait = { ms: 0, part: "", most: MAX_PARTS };

export function createJoining(
  deps: { readonly clock: Pick<Clock, "after">; readonly config: () => HostConfig },
  hand: (items: readonly Item[]) => void,
): Joining {
  const waiting = new Map<string, Waiting>();

  function flush(key: string): void {
    const found = waiting.get(key);
    if (!found) return;
    waiting.delete(key);
    found.timer[Symbol.dispose]();
    hand(found.items);
  }

  /** How long it waits for more, and under which name. */
  function waitOf({ event, channel, context, receivedAt }: Inbound): Wait {
    // A plugin that reads messages by itself has put together what belongs together.
    if (context) return NO_WAIT;
    if (event.kind === "message" && isLate(event, receivedAt)) return { ms: LATE_WAIT_MS, part: LATE, most: MAX_LATE };
    if (event.joins) return { ms: event.joins.waitMs, part: `\0part\0${event.joins.key}`, most: MAX_PARTS };
    const textOnly = !event.media?.length && !event.location && event.kind === "message";
    return { ...NO_WAIT, ms: textOnly ? resolveInboundDebounceMs({ cfg: deps.config(), channel }) : 0 };
  }

  /** Back-logs of several senders in one session go on together, in the order of their last messages: none overtakes what was written before it. */
  function flushLate(session: string): void {
    for (const key of waiting.keys()) if (key.startsWith(session) && key.endsWith(LATE)) flush(key);
  }

  return {
    add(item, isControl) {
      const [inbound] = item.messages;
      const session = `${chatOf(inbound)}\0${inbound.sessionKey}\0`;
      const sender = `${session}${inbound.event.sender.id}`;
      const { ms, part, most } = isControl ? NO_WAIT : waitOf(inbound);
      const key = `${sender}${part}`;
      const isBacklog = part === LATE;
      if (!isBacklog) flushLate(session);
      // What waits under another name was written before.
      for (const other of waiting.keys()) if (other !== key && (other === sender || other.startsWith(`${sender}\0part\0`))) flush(other);
      if (ms <= 0) {
        flush(key);
        return hand([item]);
      }
      const over = (): void => (isBacklog ? flushLate(session) : flush(key));
      const timer = deps.clock.after(ms, over);
      const found = waiting.get(key);
      if (!found) return void waiting.set(key, { items: [item], timer });
      found.timer[Symbol.dispose]();
      found.timer = timer;
      found.items.push(item);
      // Back-logs go on in the order of their last messages: what was joined later stands behind what others wrote before it.
      waiting.delete(key);
      waiting.set(key, found);
      if (found.items.length >= most) over();
    },
  };
}

/** Several messages as one: texts one below the other, the ids of the last, all ids beside. */
export function joined(group: Group): FinalizedMsgContext {
  const last = messageContext(group.at(-1)!);
  if (group.length === 1) return last;
  const contexts = group.map(messageContext);
  const text = (field: "Body" | "RawBody" | "BodyForAgent" | "BodyForCommands"): string =>
    contexts.flatMap((ctx) => (ctx[field] ? [ctx[field]] : [])).join("\n");
  const ids = contexts.flatMap(({ MessageSid }) => (MessageSid === undefined ? [] : [MessageSid]));
  return {
    ...last,
    Body: text("Body"),
    RawBody: text("RawBody"),
    CommandBody: text("BodyForCommands"),
    BodyForAgent: text("BodyForAgent"),
    BodyForCommands: text("BodyForCommands"),
    MessageSids: ids,
    MessageSidFirst: ids[0],
    MessageSidLast: ids.at(-1),
  };
}

const MAX_PATTERNS = 20;

/** What is said without the channel's own way to name us: `claw: /status` is a command. */
export function withoutMentions(ctx: FinalizedMsgContext, plugin: ChannelPlugin | undefined, cfg: HostConfig, agentId: string): FinalizedMsgContext {
  const { mentions } = plugin ?? {};
  const said = ctx.BodyForCommands ?? "";
  if (!mentions || said === "") return ctx;
  const asked = { ctx, cfg, agentId };
  if (mentions.stripMentions) return { ...ctx, BodyForCommands: mentions.stripMentions({ ...asked, text: said }).trim() };
  let left = said;
  for (const pattern of (mentions.stripPatterns?.(asked) ?? []).slice(0, MAX_PATTERNS)) {
    try {
      left = left.replace(new RegExp(pattern, "giu"), " ");
    } catch {
      // A pattern that is none takes nothing out.
    }
  }
  return left === said ? ctx : { ...ctx, BodyForCommands: left.trim() };
}

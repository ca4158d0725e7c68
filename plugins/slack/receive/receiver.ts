/** What Slack brings, over a socket or a webhook: read, offered in order for each conversation, and done when it is stored. */
import { type AccountRun, asChannelError, type Fields, messageOf } from "openclaw/plugin-sdk/channel-kit";
import { MalformedEvent, type ReadingFacts } from "../inbound/chat.ts";
import { isForUs, laneOf, mapEvent } from "../inbound/event.ts";
import { commandEvent, interactionEvents } from "../inbound/interaction.ts";
import { messageEvent } from "../inbound/message.ts";
import type { ChannelInboundEvent } from "../types.ts";
import { answerPrivately, notAnswered } from "../send/private.ts";
import type { Self, Workspace } from "../workspace.ts";
import type { Position, Positions } from "./positions.ts";

export type DeliveryType = "events_api" | "slash_commands" | "interactive";

export interface ReceiverDeps {
  readonly run: AccountRun;
  readonly workspace: Workspace;
  readonly self: Self;
  readonly positions: Positions;
  /** The host turned this event away. */
  wasRefused(event: ChannelInboundEvent): boolean;
  /** The app's id, where it is known. */
  appId(): string | undefined;
  moved(from: string, to: string): Promise<void>;
  /** The app was removed. */
  gone(why: string): void;
}

export interface Receiver {
  /** Resolves when it is stored; rejects where Slack should bring it again. `isOnce`: offered once, for webhooks. */
  take(type: DeliveryType, payload: Fields, isOnce?: boolean): Promise<void>;
  /** Reads what was written since the last message that was stored. */
  catchUp(): Promise<void>;
}

const MAX_AGE_MS = 24 * 3_600_000;
const MOST_MESSAGES = 100;
const MAX_PAUSE_MS = 60_000;

/** Messages after a position, oldest first. */
async function missed({ api, waiting }: Workspace, { channel, thread, ts }: Position, signal: AbortSignal): Promise<readonly Fields[]> {
  const oldest = [ts, ((waiting.now() - MAX_AGE_MS) / 1000).toFixed(6)].reduce((a, b) => (a > b ? a : b));
  const [method, params] = thread === undefined ? ["conversations.history", { channel, oldest }] : ["conversations.replies", { channel, oldest, ts: thread }];
  const found = await api.list(method, "messages", params, MOST_MESSAGES, { signal });
  return found
    .filter((message) => String(message["ts"]) > oldest && message["ts"] !== thread)
    .map((message) => ({ ...message, channel }))
    .sort((a: Fields, b: Fields) => (String(a["ts"]) < String(b["ts"]) ? -1 : 1));
}

const REFUSED = "You are not allowed to use this here.";

export function createReceiver({ run, workspace, self, positions, wasRefused, appId, moved, gone }: ReceiverDeps): Receiver {
  const { intake, log, signal, waiting } = run;
  const facts: ReadingFacts = { workspace, self };

  /** In the background: the event itself is done. */
  function answer(payload: Fields, text: string): void {
    answerPrivately(workspace, payload, text).catch((error: unknown) => log.warn(`a person could not be answered: ${messageOf(error)}`));
  }

  async function eventsOf(type: DeliveryType, payload: Fields): Promise<readonly ChannelInboundEvent[]> {
    if (type === "interactive") return interactionEvents(payload, facts);
    if (type === "slash_commands") {
      const event = await commandEvent(payload, facts);
      if (event) return [event];
      const why = notAnswered(workspace, String(payload["command"]));
      log.warn(`a command was not answered: ${why}`);
      answer(payload, why);
      return [];
    }
    const mapped = await mapEvent(payload, facts);
    if (mapped.moved) {
      positions.moved(mapped.moved.from, mapped.moved.to);
      await moved(mapped.moved.from, mapped.moved.to);
    }
    if (mapped.isGone !== undefined) gone(mapped.isGone);
    return mapped.events;
  }

  /** What Slack would not send is dropped: it would only come again. */
  async function readable(type: DeliveryType, payload: Fields): Promise<readonly ChannelInboundEvent[]> {
    try {
      return await eventsOf(type, payload);
    } catch (error) {
      if (!(error instanceof MalformedEvent)) throw error;
      log.warn(`an event from Slack was dropped: ${error.message}`);
      return [];
    }
  }

  async function store(event: ChannelInboundEvent, isOnce: boolean): Promise<void> {
    if (isOnce) await intake.offerOnce(event);
    else if (!(await intake.offer(event))) throw new Error("the account stopped");
    const thread = event.chat.threadId;
    if (event.kind === "message") positions.reached(event.chat.id, thread === undefined ? undefined : String(thread), event.id);
  }

  async function catchUpIn(position: Position): Promise<void> {
    const read = (): Promise<readonly Fields[]> => missed(workspace, position, signal);
    const messages = await read().catch(async (error: unknown) => {
      const pause = asChannelError(error)?.delivery.retryAfterMs;
      if (pause === undefined || pause > MAX_PAUSE_MS) throw error;
      await waiting.sleep(pause, signal);
      return read();
    });
    for (const message of messages) {
      await intake.behind(position.channel, async () => {
        const event = await messageEvent(message, { ...facts, isBacklog: true });
        if (event) await store(event, false);
      });
    }
  }

  return {
    async take(type, payload, isOnce = false) {
      if (!isForUs(payload, self, appId())) return log.warn("an event for another app or workspace was dropped");
      await intake.behind(laneOf(payload), async () => {
        for (const event of await readable(type, payload)) {
          await store(event, isOnce);
          if (type !== "events_api" && wasRefused(event)) answer(payload, REFUSED);
        }
      });
      run.alive();
    },
    async catchUp() {
      for (const position of positions.list()) {
        if (signal.aborted) return;
        await catchUpIn(position).catch((error: unknown) => log.debug?.(`missed messages in ${position.channel} could not be read: ${messageOf(error)}`));
      }
    },
  };
}

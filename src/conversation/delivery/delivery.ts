import { lazy } from "../../base/lazy.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ChannelActivity, RichTextTools } from "../../channels/index.ts";
import type { Hooks, InternalHooks } from "../../hooks/index.ts";
import type { PollInput, ReplyKind, ReplyPayload, ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { OutboxRow, Write, Store } from "../../store/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { LiveDeliver } from "./attempt.ts";

/** What belongs to a reply besides its content. */
export interface OutgoingFacts {
  /** `command` answers a command, `send` was asked for by a tool or a client. */
  readonly kind: ReplyKind | "command" | "send";
  readonly sessionKey?: string;
  readonly agentId?: string;
  /** The turn that it belongs to. */
  readonly runId?: string;
  readonly senderId?: string;
  /** Of the message that is answered. */
  readonly messageId?: string;
  /** The trace that the message belongs to, for hooks. */
  readonly traceId?: string;
  /** Model and usage of the turn, for `reply_payload_sending`. */
  readonly usageState?: Readonly<Record<string, unknown>>;
  /** How many of the payloads, from the first, the model wrote before a call: hooks are asked about them as blocks. */
  readonly between?: number;
  /** The message that showed the answer while it was written. */
  readonly previewId?: string;
  /** A message that showed the answer may be there, and its id is not known: the answer is the one repeat of it. */
  readonly isPreviewLost?: boolean;
  /** Makes a repeated `send` the same one. */
  readonly idempotencyKey?: string;
  /** The key of the plugin that waits for it, as in `attach`. */
  readonly live?: string;
  /** Without a sound, where the platform can. */
  readonly silent?: boolean;
  readonly gifPlayback?: boolean;
  /** A poll, in place of payloads. */
  readonly poll?: PollInput & { readonly isAnonymous?: boolean };
}

/** A reply on its way to the disk. */
export interface PreparedReply {
  /** To be committed; empty when there is nothing to send. */
  readonly writes: readonly Write[];
  /** What will be sent, after all hooks, one text for each message. */
  readonly texts: readonly string[];
  /** Why nothing or less is sent. */
  readonly suppressed: readonly string[];
  /** The texts of the payloads as plugins left them; undefined when no plugin changed or cancelled anything. */
  readonly decided?: readonly string[];
}

/** What became of a `send`. */
export interface SendReport {
  readonly state: "sent" | "failed" | "suppressed" | "unknown" | "pending";
  readonly messageIds: readonly string[];
  readonly rowIds: readonly number[];
  readonly why?: string;
  /** Of the last piece that was sent, as the channel gave it. */
  readonly receipt?: Readonly<Record<string, unknown>>;
}

/** What became of a `resend`, and where it went. */
export interface ResendReport extends SendReport {
  readonly channel: string;
  readonly accountId: string;
  readonly to: string;
}

/** The only way out for a message. */
export interface Delivery extends AsyncDisposable {
  /** Normalised payloads → hooks → pieces → outbox rows. Nothing is sent before the writes are committed. */
  prepare(address: ReplyAddress, payloads: readonly ReplyPayload[], facts: OutgoingFacts): Promise<PreparedReply>;
  /** Rows were committed: they are sent, in order for each target. */
  kick(): void;
  /** Prepares, commits and sends; resolves when all pieces have an end, or after `waitMs`. */
  send(address: ReplyAddress, payloads: readonly ReplyPayload[], facts: OutgoingFacts, waitMs?: number): Promise<SendReport>;
  /**
   * Sends the content of a failed row again, as a row of its own, and waits like `send`. The latest resend counts: one that is under way is waited
   * for, one that failed is sent again in turn. Rejects with `NOT_FOUND`, or `CONFLICT` for a row that was sent or held back.
   */
  resend(rowId: number): Promise<ResendReport>;
  /** Messages with this `live` are handed to `deliver` instead of their channel, each once: what fails there goes out over the channel. */
  attach(live: string, deliver: LiveDeliver): Disposable;
  /** Called with each row that reached an end. */
  onSettled(listener: (row: OutboxRow) => void): Disposable;
  /** Rows that are not at an end. */
  open(): number;
  /** Whether something may still be on its way there: what is posted past the outbox would overtake it. */
  isBusy(address: Pick<ReplyAddress, "channel" | "accountId" | "to">): boolean;
}

/** Channels that run, by their id. */
export interface ChannelTable {
  get(id: string): ChannelPlugin | undefined;
  /** Whether an account can send at the moment; rows of others wait. Without it every account of a channel can. */
  running?(channel: string, accountId: string): boolean;
  /** False while an account does not receive. What cannot be sent then is not given up: the platform may be away altogether. */
  receiving?(channel: string, accountId: string): boolean;
}

export interface DeliveryDeps {
  readonly store: Pick<Store, "commit" | "write" | "read">;
  readonly clock: Clock;
  readonly random: Pick<Random, "float">;
  readonly ids: Pick<Ids, "hex">;
  readonly log: Logger;
  readonly config: () => HostConfig;
  readonly table: ChannelTable;
  readonly hooks: Pick<Hooks, "has" | "run">;
  readonly internalHooks?: Pick<InternalHooks, "has" | "trigger">;
  /** Loaded with the first reply to a channel that takes rich text. Default: the one of `channels`. */
  readonly richText?: () => Promise<Pick<RichTextTools, "parseMarkdown">>;
  readonly activity?: Pick<ChannelActivity, "record"> & Partial<Pick<ChannelActivity, "sendFailed" | "get">>;
  /** Folders that files may be sent from. */
  readonly mediaRoots?: (agentId: string | undefined) => readonly string[];
  /** Rejects when a file may not leave this machine, wherever its folder is. Addresses are let through. */
  readonly mediaReadable?: (agentId: string | undefined, path: string) => Promise<void>;
  /** Masks registered secrets in what is sent. */
  readonly redact?: (text: string) => string;
  readonly limits?: Partial<DeliveryLimits>;
}

/** How much happens at once, and how long things may take. */
export interface DeliveryLimits {
  /** Attempts under way at once. */
  readonly atOnce: number;
  readonly atOncePerAccount: number;
  readonly attemptMs: number;
  /** After this a row is not sent any more. */
  readonly expireMs: number;
  /** How long a stop waits for attempts that are under way. */
  readonly graceMs: number;
  /** How often rows look again whether their channel is there. */
  readonly absentMs: number;
  /** A message that may have arrived is not sent again earlier, and an account in trouble not asked earlier. */
  readonly repeatMs: number;
  /** After this a message that may have arrived is sent again although its channel cannot be asked whether it works. */
  readonly blindMs: number;
  /** An answer whose preview cannot be edited for this long, while the account works, becomes a new message. */
  readonly editMs: number;
  /** Rows whose content is kept in memory while they wait. */
  readonly held: number;
}

const HOUR_MS = 3_600_000;

export const DEFAULT_LIMITS: DeliveryLimits = {
  atOnce: 128,
  atOncePerAccount: 8,
  attemptMs: 60_000,
  expireMs: 24 * HOUR_MS,
  graceMs: 5000,
  absentMs: 5000,
  repeatMs: 5000,
  blindMs: 10 * 60_000,
  editMs: 60_000,
  held: 2000,
};

/** Delivery whose code is loaded when something is sent, or is found unsent. */
export function lazyDelivery(load: () => Promise<Delivery>): Delivery {
  let loaded: Delivery | undefined;
  /** Requests on their way to the outbox. */
  let sending = 0;
  const listeners = new Set<Parameters<Delivery["onSettled"]>[0]>();
  const open = lazy(async () => {
    loaded = await load();
    loaded.onSettled((row) => {
      for (const listener of listeners) listener(row);
    });
    return loaded;
  });
  async function counted<T>(send: () => Promise<T>): Promise<T> {
    sending += 1;
    try {
      return await send();
    } finally {
      sending -= 1;
    }
  }
  return {
    prepare: async (...args) => (await open()).prepare(...args),
    kick: () => void open().then((delivery) => delivery.kick()),
    send: (...args) => counted(async () => (await open()).send(...args)),
    resend: (rowId) => counted(async () => (await open()).resend(rowId)),
    attach(live, deliver) {
      const held = new DisposableStack();
      open().then(
        (delivery) => void (held.disposed || held.use(delivery.attach(live, deliver))),
        () => {}, // The sender gets the error.
      );
      return held;
    },
    onSettled(listener) {
      listeners.add(listener);
      return { [Symbol.dispose]: () => void listeners.delete(listener) };
    },
    open: () => (loaded?.open() ?? 0) + sending,
    isBusy: (address) => (loaded ? loaded.isBusy(address) : open.started() !== undefined),
    async [Symbol.asyncDispose]() {
      await (await open.started()?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

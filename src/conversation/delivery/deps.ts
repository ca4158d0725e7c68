import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ChannelActivity, RichTextTools } from "../../channels/index.ts";
import type { Hooks, InternalHooks } from "../../hooks/index.ts";
import type { ChannelPlugin, HostConfig } from "../../protocol/index.ts";
import type { Store } from "../../store/index.ts";

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
  readonly internalHooks?: () => Pick<InternalHooks, "has" | "trigger"> | undefined;
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
  /** After this a message that may have arrived is sent again although its channel cannot tell whether it works. */
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

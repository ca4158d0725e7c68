import type { TurnEnd } from "../../agent/index.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Random } from "../../base/random.ts";
import type { ChannelPlugin, HostConfig, ReplyPayload, ResponsePrefixContext } from "../../protocol/index.ts";
import type { ReplyAddress } from "../address.ts";
import type { UsageLevel } from "./shape/footer.ts";

/** What a session shows. */
export interface ReplyLevels {
  readonly verbose: "off" | "on" | "full";
  readonly reasoning: "off" | "on" | "stream";
  readonly usage: UsageLevel;
}

export interface ReplyStreamDeps {
  /** Undefined where nothing is shown meanwhile, such as in WebChat: then only `finish` gives something. */
  readonly plugin: ChannelPlugin | undefined;
  readonly address: ReplyAddress;
  readonly cfg: HostConfig;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Whether the answer comes in blocks, whatever the configuration says. */
  readonly blocks?: boolean;
  /** Read whenever something happens: a change counts from then on. */
  readonly levels: () => ReplyLevels;
  readonly wasMentioned: boolean;
  readonly isHeartbeat: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Commits a payload as an outbox row and has it sent. What it rejects was not said, and comes back from `finish`. */
  say(payload: ReplyPayload, kind: "block" | "tool"): Promise<void>;
  /** Texts of payloads that a process before this one said as blocks of this turn, in order. */
  readonly spoken: readonly string[];
  /** Texts that the model wrote before calls in a process before this one, and that waited for the end of the turn. */
  readonly unsent?: readonly string[];
  /**
   * Keeps the message that shows the answer while it is written, for the process that may have to take the turn up: called without an id before the
   * message is posted, and with it afterwards.
   */
  readonly keepPreview?: (id: string | undefined) => Promise<void>;
  /** What a process before this one has kept so. Without an id nobody knows whether the message is there. */
  readonly preview?: { readonly id: string | undefined } | undefined;
  /** Plugins may still change or cancel what is said: nothing is shown before they have decided, so there is no preview. */
  readonly held?: boolean;
  /** For the variables of the prefix, as far as they are known before the turn. */
  readonly prefixFacts: ResponsePrefixContext;
  /** Folders that files may be sent from; relative paths begin at the first. */
  readonly localRoots: readonly string[];
  /** Set when the turn begins a session that verbose people are told of. */
  readonly newSessionId?: string;
  /** Whether the call was paid with a key, so that its cost is shown. Default no. */
  readonly billed?: (end: TurnEnd) => boolean;
  /** Takes secrets out of what tools show. */
  readonly redact?: (text: string) => string;
}

/** The dependencies of conversations. `app` fills them in. */
import type { Agents, TurnHooks } from "../agent/index.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Random } from "../base/random.ts";
import type { AllowLists, Pairing } from "../channels/index.ts";
import type { Config } from "../config/index.ts";
import type { InternalHooks } from "../hooks/index.ts";
import type { ChannelInboundMedia, ChannelPlugin, ImageContent, SessionEntry } from "../protocol/index.ts";
import type { Routing } from "../routing/index.ts";
import type { Store } from "../store/index.ts";
import type { Understanding } from "../understanding/index.ts";
import type { AnswerToSpeak, Speech } from "../voice/index.ts";
import type { Commands } from "./commands/commands.ts";
import type { RunEvent } from "./contract.ts";
import type { Delivery } from "./delivery/delivery.ts";
import type * as ReplyCode from "./reply/index.ts";

/** A file of a message, stored. */
export interface KeptMedia {
  readonly path: string;
  readonly mimeType: string;
  /** For models that see. */
  readonly image?: ImageContent;
  readonly durationSeconds?: number;
}

/** The files of messages that belong together, fetched. */
export interface ItemFiles {
  readonly kept: readonly KeptMedia[];
  /** One for each file, and for each that went wrong. */
  readonly lines: readonly string[];
  /** What is said in its recordings. */
  readonly transcripts: readonly string[];
}

/** A recording that came with a message, stored. */
export interface Recording extends Pick<KeptMedia, "path" | "mimeType" | "durationSeconds"> {
  readonly channel: string;
  readonly accountId: string;
  readonly agentId: string;
  readonly sessionKey: string;
}

/** Speech to text. Undefined: this recording is not transcribed. */
export type Transcribe = (recording: Recording, signal: AbortSignal) => Promise<string | undefined>;

/** Speaking answers. */
export interface AnswerSpeech {
  /** False: answers of this session are not spoken, and nothing else needs to be asked. */
  isWanted(entry: SessionEntry | undefined): boolean;
  /** The file with the spoken answer; undefined: it is not spoken. Never rejects. */
  speak(answer: AnswerToSpeak): Promise<Pick<Speech, "audioPath"> | undefined>;
  /** What the agent has to know about it. */
  hint(entry: SessionEntry | undefined): Promise<string | undefined>;
}

/** Fetches and stores the files of a message. What cannot be fetched is reported in `problems`, one line each. */
export type KeepMedia = (
  asked: {
    readonly channel: string;
    readonly accountId: string;
    readonly media: readonly Omit<ChannelInboundMedia, "isVoice">[];
  },
  signal: AbortSignal,
) => Promise<{ readonly kept: readonly KeptMedia[]; readonly problems: readonly string[] }>;

export interface ConversationDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  readonly log: Logger;
  readonly config: Pick<Config, "current">;
  readonly hooks: TurnHooks;
  readonly internalHooks?: Pick<InternalHooks, "has" | "trigger">;
  /** Opened when the first message is answered. */
  readonly agents: () => Promise<Pick<Agents, "turn" | "after">>;
  readonly routing: Routing;
  /** Channels by their ids, those of plugins that run. */
  readonly channels: {
    get(id: string): ChannelPlugin | undefined;
    /** False while an account cannot send, or may not. */
    running?(channel: string, accountId: string): boolean;
  };
  readonly pairing: Pairing;
  readonly allowLists: AllowLists;
  readonly delivery: Delivery;
  readonly commands: Commands;
  readonly keepMedia?: KeepMedia;
  /** Without it recordings are files that the model sees the path of. */
  readonly transcribe?: Transcribe;
  /** Describes files and links for models that do not see them. */
  readonly understand?: Understanding["understand"];
  readonly speech?: AnswerSpeech;
  /** Folders that an agent's files may be sent from; relative paths begin at the first. */
  readonly mediaRoots?: (agentId: string) => readonly string[];
  /** Takes secrets out of what is shown. */
  readonly redact?: (text: string) => string;
  /** Makes the commands in a text for a chat run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
  /** Answers for keys that name no agent. */
  readonly defaultAgentId: () => string;
  /**
   * Resolves when every enabled plugin has registered, failed or timed out; undefined when that is so already. What was accepted waits for it: plugins
   * may claim a message, answer a command, and decide about a turn. Rejects when the gateway ends first.
   */
  readonly untilPlugins?: () => Promise<void> | undefined;
  /** How long running turns may go on when the gateway stops. Default 10 s. */
  readonly graceMs?: number;
}

/** What the parts of a conversation share. */
export interface ConversationContext {
  readonly deps: ConversationDeps;
  /** Reports what happens in a run to everyone who listens. */
  readonly emit: (run: { readonly runId: string; readonly sessionKey: string }, event: RunEvent) => void;
  /** The code that shapes replies, loaded with the first turn. */
  readonly loadReply: Lazy<typeof ReplyCode>;
  /** Fires when the grace of a stop is over: turns are left for the next start. */
  readonly stopping: AbortSignal;
}

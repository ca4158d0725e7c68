import { lazy } from "../../base/lazy.ts";
import { maskValue } from "../../base/secret-search.ts";
import { isControlCommandMessage } from "../../channels/index.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import type { MsgContext, NativeCommandSpec, ReplyPayload, ThinkingLevel } from "../../protocol/index.ts";
import type { ElevatedLevel, ReasoningLevel, VerboseLevel } from "../../sessions/index.ts";

/** A message that may be a command, with who sent it and for which session. */
export interface CommandCall {
  /** Names the accepted message, in this process and the next. Absent for texts that are not stored. */
  readonly messageKey?: string;
  /** The finalised context; `BodyForCommands` is read. */
  readonly ctx: MsgContext;
  readonly sessionKey: string;
  readonly agentId: string;
  readonly channel: string;
  readonly accountId: string;
  readonly senderId?: string;
  /** Other ids that the platform knows the sender by. */
  readonly otherSenderIds?: readonly string[];
  readonly isGroup: boolean;
  /** May give commands here. What each command needs besides is in the table of authority. */
  readonly authorized: boolean;
  readonly owner: boolean;
  /** Of a client of the gateway; absent for channels. */
  readonly scopes?: readonly string[];
  readonly source: "text" | "native";
  /** Whether something can be answered beside the turn, as a message of its own. */
  readonly canAnswerAside: boolean;
  readonly wasMentioned: boolean;
  readonly botUsername?: string;
  /** Fires when the message is stopped. */
  readonly signal: AbortSignal;
  /** The command may take long: quick commands of the same session need not wait for its end. */
  readonly tookLong?: () => void;
}

/** Settings that stood inside of a message's text. */
export interface TurnHints {
  readonly verbose?: VerboseLevel;
  readonly reasoning?: ReasoningLevel;
  readonly elevated?: ElevatedLevel;
  /** As it was written: a reference or an alias. */
  readonly model?: string;
  /** Fields of the entry, as `/exec` and `/queue` write them. */
  readonly exec?: Readonly<Record<string, unknown>>;
  readonly queue?: Readonly<Record<string, unknown>>;
}

/** What becomes of the message. */
export type CommandVerdict =
  /** It is dealt with. `reply` may be empty: then nothing is sent, and `why` says why. */
  | {
      readonly kind: "answered";
      readonly reply: readonly ReplyPayload[];
      /** `cancelled`: it was stopped before it had an answer. */
      readonly outcome: "answered" | "silent" | "refused" | "cancelled";
      readonly why: string;
      /** Runs that were stopped. */ readonly stopped?: readonly string[];
    }
  /** A turn follows, with this text; `asides` are sent at once. */
  | {
      readonly kind: "turn";
      readonly text: string;
      readonly asides: readonly ReplyPayload[];
      /** For this turn only. */
      readonly thinking?: ThinkingLevel;
      /** Other settings for this turn only. */
      readonly hints?: TurnHints;
      /** What happened, for `why`. */
      readonly notes: readonly string[];
    };

/** The account of a channel whose menu is filled. */
export interface MenuOwner {
  readonly channel: string;
  readonly accountId: string;
}

export interface Commands {
  /** Whether it bypasses debounce and lane: a command that stands alone, or a word that stops what runs. Cheap. */
  isControl(text: string, options?: { readonly botUsername?: string }): boolean;
  run(call: CommandCall): Promise<CommandVerdict>;
  /** For platforms with menus: what the menu of this account offers. */
  native(agentId: string, owner: MenuOwner): Promise<readonly NativeCommandSpec[]>;
  /** For completion in clients. */
  list(agentId: string): Promise<
    readonly {
      readonly name: string;
      readonly aliases: readonly string[];
      readonly description: string;
      readonly group: string;
      readonly acceptsArgs: boolean;
      /** How what follows is written. */
      readonly usage?: string;
      /** Choices of what follows. */
      readonly choices?: readonly string[];
      /** `core`, `skill` or `plugin:<id>`. */
      readonly source: string;
    }[]
  >;
}

/** Commands whose code is loaded with the first message that may be one. `redact` masks secrets in their answers. */
export function lazyCommands(
  { config, redact }: { readonly config: () => OpenClawConfig; readonly redact: (text: string) => string },
  load: () => Promise<Commands>,
): Commands {
  let loaded: Commands | undefined;
  const open = lazy(async () => (loaded = await load()));
  return {
    // Until the code is loaded, commands of plugins and aliases are taken for text: they wait with it, and are commands all the same.
    isControl: (text, options) => loaded?.isControl(text, options) ?? isControlCommandMessage(text, config(), options),
    async run(call) {
      const result = await (await open()).run(call);
      return result.kind === "answered" ? { ...result, reply: maskValue(result.reply, redact) } : result;
    },
    native: async (...args) => (await open()).native(...args),
    list: async (...args) => (await open()).list(...args),
  };
}

import type { Logger } from "../../../base/log/logger.ts";
import { decideAccess, resolveHumanDelayConfig, type AccessGranted, type AllowLists } from "../../../channels/index.ts";
import type { ChannelTable, Conversation, LiveEnd } from "../../../conversation/index.ts";
import {
  agentOfKey,
  type DispatchResult,
  type HostConfig,
  type MsgContext,
  type ReplyDispatcher,
  type ReplyDispatcherOptions,
  type ReplyKind,
  type ReplyOptions,
  type ReplyPayload,
} from "../../../protocol/index.ts";
import { liveReply } from "./live-reply.ts";
import { messageOffer, type OfferedMessage } from "./message-event.ts";
import { createReplyDispatcher, type DispatcherDeps, type HostDispatcher } from "./reply-dispatcher.ts";

interface DispatchTalk {
  readonly conversation: Pick<Conversation, "dispatch">;
  readonly channels: Pick<ChannelTable, "get" | "dock">;
  readonly allowLists: AllowLists;
}

export interface DispatchingDeps extends DispatcherDeps {
  /** The conversations; throws while there are none. */
  readonly talk: () => DispatchTalk;
  readonly config: () => HostConfig;
  /** Of keys that name no agent. */
  readonly defaultAgentId: () => string;
  readonly newId: () => string;
}

interface Asked {
  readonly ctx: MsgContext;
  readonly cfg?: HostConfig | undefined;
  readonly replyOptions?: ReplyOptions | undefined;
  readonly replyResolver?: ((ctx: MsgContext, options?: ReplyOptions, cfg?: HostConfig) => Promise<ReplyPayload | ReplyPayload[] | undefined>) | undefined;
}

/** Messages of plugins that gate and route by themselves, and take the replies by themselves. */
export interface Dispatching {
  withBufferedBlocks(asked: Asked & { readonly dispatcherOptions: ReplyDispatcherOptions }): Promise<DispatchResult>;
  fromConfig(asked: Asked & { readonly dispatcher: ReplyDispatcher }): Promise<DispatchResult>;
  createDispatcher(options: ReplyDispatcherOptions): { dispatcher: ReplyDispatcher; replyOptions: ReplyOptions; markDispatchIdle(): void };
}

const SENDS = { tool: "sendToolResult", block: "sendBlockReply", final: "sendFinalReply" } as const satisfies Record<ReplyKind, keyof ReplyDispatcher>;

/** The plugin's word counts for who may write and give commands; who an owner is says the configuration alone. */
function verdictOf({ talk, config }: DispatchingDeps, { channel, accountId, event, context }: OfferedMessage): AccessGranted {
  const { channels, allowLists } = talk();
  const found = decideAccess({ cfg: config(), plugin: channels.get(channel), channel, accountId, event, approved: allowLists.get(channel, accountId) });
  const commandAuthorized = context.CommandAuthorized === true;
  return {
    allow: true,
    trigger: true,
    owner: commandAuthorized && found.allow && found.owner,
    commandAuthorized,
    wasMentioned: context.WasMentioned === true,
    requireMention: false,
    reason: event.chat.type === "direct" ? "dm-allowlist" : "group-allowlist",
    why: `allowed by the plugin of ${channel}`,
  };
}

const resultOf = ({ counts }: Pick<LiveEnd, "counts">): DispatchResult => ({ queuedFinal: counts.final > 0, counts: { ...counts } });

export function createDispatching(deps: DispatchingDeps): Dispatching {
  const { config } = deps;
  const log: Logger = deps.log;
  const own = new WeakMap<ReplyDispatcher, HostDispatcher>();

  /** Hands a reply to a dispatcher; rejects when it is one of ours and could not deliver. */
  function hand(dispatcher: ReplyDispatcher, agentId: string): (payload: ReplyPayload, info: { readonly kind: ReplyKind }) => Promise<unknown> {
    const host = own.get(dispatcher);
    // Where the configuration asks for pauses between blocks the conversation makes them.
    const isPaced = (resolveHumanDelayConfig(config(), agentId)?.mode ?? "off") !== "off";
    if (host) return (payload, { kind }) => host.deliver(payload, kind, isPaced);
    return async (payload, { kind }) => {
      dispatcher[SENDS[kind]](payload);
      await dispatcher.waitForIdle();
    };
  }

  /** The plugin's own resolver answers: nothing of it is stored here. */
  async function resolved(asked: Asked, dispatcher: ReplyDispatcher): Promise<DispatchResult> {
    const replies = await asked.replyResolver?.(asked.ctx, asked.replyOptions, asked.cfg ?? config());
    for (const payload of replies === undefined ? [] : [replies].flat()) dispatcher.sendFinalReply(payload);
    await dispatcher.waitForIdle();
    return resultOf({ counts: dispatcher.getQueuedCounts() });
  }

  async function dispatch(asked: Asked, dispatcher: ReplyDispatcher): Promise<DispatchResult> {
    if (asked.replyResolver) return resolved(asked, dispatcher);
    const { replyOptions = {} } = asked;
    const offer = messageOffer(asked.ctx, deps.newId, replyOptions.skillFilter);
    const agentId = agentOfKey(offer.context.SessionKey ?? "", { defaultAgentId: deps.defaultAgentId() });
    const options = own.get(dispatcher)?.options ?? {};
    const live = liveReply({ deliver: hand(dispatcher, agentId), options, replyOptions, log });
    const end = await deps.talk().conversation.dispatch(offer, verdictOf(deps, offer), offer.context, live);
    await dispatcher.waitForIdle();
    return resultOf(end);
  }

  function create(options: ReplyDispatcherOptions): HostDispatcher {
    const made = createReplyDispatcher(options, deps);
    own.set(made.dispatcher, made);
    return made;
  }

  return {
    async withBufferedBlocks({ dispatcherOptions, ...asked }) {
      const { dispatcher } = create(dispatcherOptions);
      try {
        return await dispatch(asked, dispatcher);
      } finally {
        dispatcherOptions.onIdle?.();
        dispatcherOptions.onCleanup?.();
      }
    },
    fromConfig: ({ dispatcher, ...asked }) => dispatch(asked, dispatcher),
    createDispatcher(options) {
      const { dispatcher } = create(options);
      return {
        dispatcher,
        replyOptions: {},
        markDispatchIdle() {
          options.onIdle?.();
          options.onCleanup?.();
        },
      };
    },
  };
}

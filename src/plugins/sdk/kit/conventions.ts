/** Targets, threads, buttons, and what channels over a web API say of themselves, as most of them have it. */
import type {
  ChannelMessagingAdapter,
  ChannelOutboundAdapter,
  ChannelThreadingAdapter,
  ReplyPayload,
  ChannelCapabilities,
  ChannelMeta,
} from "../../../protocol/index.ts";
import type { AccountReader, ChannelAccount } from "./accounts.ts";
import { choiceOf, fieldsOf, listOf, textOf } from "./fields.ts";
import { getChatChannelMeta } from "../channels/meta.ts";
import type { PluginRuntime } from "../types/index.ts";
import type { Transport } from "./transport.ts";
import type { Waiting } from "./waiting.ts";

export interface TargetsSpec {
  /** The target in its normal form. Throws where it is none. */
  normalize(raw: string): string;
  looksLikeId(raw: string): boolean;
  /** What targets look like, for people. */
  readonly hint: string;
}

/** `resolveTarget` of a function that throws where a text is no target. */
export function createTargetReader(normalize: (raw: string) => string): NonNullable<ChannelOutboundAdapter["resolveTarget"]> {
  return ({ to }) => {
    try {
      return { ok: true, to: normalize(to ?? "") };
    } catch (error) {
      return { ok: false, error: error as Error };
    }
  };
}

export function createTargets({ normalize, looksLikeId, hint }: TargetsSpec): {
  readonly resolveTarget: NonNullable<ChannelOutboundAdapter["resolveTarget"]>;
  readonly messaging: ChannelMessagingAdapter;
} {
  const resolveTarget = createTargetReader(normalize);
  return {
    resolveTarget,
    messaging: {
      normalizeTarget(raw) {
        const found = resolveTarget({ to: raw });
        return found.ok ? found.to : undefined;
      },
      targetResolver: { looksLikeId: (raw) => looksLikeId(raw), hint },
    },
  };
}

/** `replyToMode` of the account, and the thread that the agent is in. */
export function createThreading<A extends ChannelAccount>(accounts: AccountReader<A>, otherwise: "off" | "first" | "all" = "off"): ChannelThreadingAdapter {
  return {
    resolveReplyToMode: ({ cfg, accountId }) => choiceOf(accounts.read(cfg, accountId).config["replyToMode"], ["off", "first", "all"], otherwise),
    allowExplicitReplyTagsWhenOff: true,
    buildToolContext: ({ context, hasRepliedRef }) => ({
      currentChannelId: context.To,
      currentThreadTs: context.MessageThreadId === undefined ? undefined : String(context.MessageThreadId),
      hasRepliedRef,
    }),
  };
}

export interface ReplyButton {
  readonly text: string;
  /** What pressing it writes. */
  readonly value: string;
  /** It opens this instead. */
  readonly url: string | undefined;
}

/** Rows of buttons in `channelData.<channel>.buttons`, without those that say nothing. */
export function buttonRows(payload: ReplyPayload | undefined, channel: string): ReplyButton[][] {
  const rows = listOf(fieldsOf(payload?.channelData?.[channel])?.["buttons"]);
  return rows
    .map((row) =>
      (Array.isArray(row) ? (row as unknown[]) : [row]).flatMap((raw): ReplyButton[] => {
        const fields = fieldsOf(raw) ?? {};
        const text = textOf(fields["text"])?.trim();
        const value = ["callback_data", "callbackData", "data", "value"].map((key) => textOf(fields[key])).find(Boolean);
        return text ? [{ text, value: value ?? text, url: textOf(fields["url"]) }] : [];
      }),
    )
    .filter((row) => row.length > 0);
}

/** What a channel over a platform's web API is made with: everything has a default outside of tests. */
export interface WebChannelOptions<K extends keyof PluginRuntime = "state"> {
  /** Where the platform's API is; another address for tests only. */
  readonly apiRoot?: string | undefined;
  /** Instead of real connections. */
  readonly transport?: Transport | undefined;
  readonly waiting?: Waiting | undefined;
  readonly runtime?: Pick<PluginRuntime, K> | undefined;
}

export interface ChannelHead {
  readonly id: string;
  readonly meta: ChannelMeta;
  readonly capabilities: ChannelCapabilities;
  readonly reload: { readonly configPrefixes: string[] };
}

/** A channel with direct chats, groups, channels and threads, whose messages have files, reactions, replies and edits; `more` is what it has besides. */
export function webChannelHead(id: string, more: Partial<ChannelCapabilities> = {}, meta?: ChannelMeta): ChannelHead {
  return {
    id,
    meta: meta ?? { ...getChatChannelMeta(id), quickstartAllowFrom: true },
    capabilities: {
      chatTypes: ["direct", "group", "channel", "thread"],
      reactions: true,
      edit: true,
      unsend: true,
      reply: true,
      threads: true,
      media: true,
      nativeCommands: true,
      ...more,
    },
    reload: { configPrefixes: [`channels.${id}`] },
  };
}

/** Sending where each message is a request of its own, whatever becomes of the connection that receives. `normalize` gives a target its normal form, and throws where it is none. */
export function requestOutbound(normalize: (raw: string) => string) {
  return {
    deliveryMode: "direct",
    independent: true,
    albums: { most: 10, mixed: true },
    resolveTarget: createTargetReader(normalize),
  } satisfies ChannelOutboundAdapter;
}

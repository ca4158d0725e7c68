/** Targets, threads and buttons, as most channels have them. */
import type { ChannelMessagingAdapter, ChannelOutboundAdapter, ChannelThreadingAdapter, ReplyPayload } from "../../../protocol/index.ts";
import type { AccountReader, ChannelAccount } from "./accounts.ts";
import { choiceOf, fieldsOf, listOf, textOf } from "./fields.ts";

export interface TargetsSpec {
  /** The target in its normal form. Throws where it is none. */
  normalize(raw: string): string;
  looksLikeId(raw: string): boolean;
  /** What targets look like, for people. */
  readonly hint: string;
}

export function createTargets({ normalize, looksLikeId, hint }: TargetsSpec): {
  readonly resolveTarget: NonNullable<ChannelOutboundAdapter["resolveTarget"]>;
  readonly messaging: ChannelMessagingAdapter;
} {
  const resolveTarget: NonNullable<ChannelOutboundAdapter["resolveTarget"]> = ({ to }) => {
    try {
      return { ok: true, to: normalize(to ?? "") };
    } catch (error) {
      return { ok: false, error: error as Error };
    }
  };
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

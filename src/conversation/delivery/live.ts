/** Replies that are handed to whoever asked for them while it is there; what fails or comes later goes out over the channel. */
import type { ChannelOutboundAdapter, ReplyKind, ReplyPayload } from "../../protocol/index.ts";
import type { RowPayload } from "./row-payload.ts";

/** Takes one message. What it throws counts like a platform's refusal. */
export type LiveDeliver = (payload: ReplyPayload, kind: ReplyKind, rowId: number) => Promise<unknown>;

export interface LiveTargets {
  attach(key: string, deliver: LiveDeliver): Disposable;
  /** Sends the row to whoever waits for it, once. Undefined: nobody does, or it was tried. */
  adapterFor(rowId: number, payload: RowPayload): ChannelOutboundAdapter | undefined;
}

const kindOf = (kind: RowPayload["kind"]): ReplyKind => (kind === "tool" || kind === "block" ? kind : "final");

interface Attached {
  readonly deliver: LiveDeliver;
  readonly tried: Set<number>;
}

export function createLiveTargets(): LiveTargets {
  const attached = new Map<string, Attached>();
  return {
    attach(key, deliver) {
      attached.set(key, { deliver, tried: new Set() });
      return { [Symbol.dispose]: () => void attached.delete(key) };
    },
    adapterFor(rowId, payload) {
      const found = payload.live === undefined ? undefined : attached.get(payload.live);
      if (!found || found.tried.has(rowId)) return undefined;
      const send = async (text: string): Promise<{ channel: string; messageId: string }> => {
        found.tried.add(rowId);
        const answer = await found.deliver(payloadOf(payload, text), kindOf(payload.kind), rowId);
        const messageId = (answer as { readonly messageIds?: readonly unknown[] } | undefined)?.messageIds?.[0];
        return { channel: "", messageId: typeof messageId === "string" ? messageId : "" };
      };
      return { deliveryMode: "direct", sendText: ({ text }) => send(text), sendMedia: ({ text }) => send(text), sendPayload: ({ text }) => send(text) };
    },
  };
}

function payloadOf({ mediaUrl, replyToId, audioAsVoice, isError, channelData }: RowPayload, text: string): ReplyPayload {
  return {
    ...(text === "" ? {} : { text }),
    ...(mediaUrl === undefined ? {} : { mediaUrl, mediaUrls: [mediaUrl] }),
    ...(replyToId === undefined ? {} : { replyToId }),
    ...(audioAsVoice ? { audioAsVoice } : {}),
    ...(isError ? { isError } : {}),
    ...(channelData ? { channelData } : {}),
  };
}

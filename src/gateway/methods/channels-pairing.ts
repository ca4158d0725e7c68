import type { PairedSender, Pairing } from "../../channels/index.ts";
import type { Handlers } from "./handler.ts";

/** Strangers of channels, and how one is told of being let in. */
export interface ChannelPairingPort {
  readonly pairing: Pick<Pairing, "list" | "approve" | "reject">;
  /** False: the channel cannot tell, or failed to. Never rejects. */
  notify?(sender: PairedSender): Promise<boolean>;
}

/** Handlers of `channels.pairing.*`. */
export function channelPairingHandlers({ pairing, notify }: ChannelPairingPort): Handlers {
  return {
    async "channels.pairing.list"({ channel, accountId }) {
      const waiting = await pairing.list({ channel, accountId });
      const requests = waiting.map(({ createdAt, lastSeenAt, expiresAt, ...rest }) => ({
        ...rest,
        createdAtMs: createdAt,
        lastSeenAtMs: lastSeenAt,
        expiresAtMs: expiresAt,
      }));
      return { requests };
    },
    async "channels.pairing.approve"({ channel, code, accountId, notify: wanted }) {
      const sender = await pairing.approve(channel, code, accountId);
      return { ...sender, notified: wanted === true && notify !== undefined && (await notify(sender)) };
    },
    "channels.pairing.reject": ({ channel, code, accountId }) => pairing.reject(channel, code, accountId),
  };
}

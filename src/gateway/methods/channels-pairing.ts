import type { Allowed, PairedSender, Pairing } from "../../channels/index.ts";
import type { Handlers } from "./handler.ts";

/** Strangers of channels, and how one is told of being let in. */
export interface ChannelPairingPort {
  readonly pairing: Pick<Pairing, "list" | "approve" | "reject">;
  /** Without it `channels.pairing.allowed` and `.revoke` are not answered. */
  readonly allowed?: Allowed | undefined;
  /** False: the channel cannot tell, or failed to. Never rejects. */
  notify?(sender: PairedSender): Promise<boolean>;
}

function allowedHandlers(allowed: Allowed): Handlers {
  return {
    async "channels.pairing.allowed"(filter) {
      const senders = await allowed.list(filter);
      return { senders: senders.map(({ addedAt, ...rest }) => ({ ...rest, ...(addedAt === undefined ? {} : { addedAtMs: addedAt }) })) };
    },
    "channels.pairing.revoke": ({ channel, accountId, senderId }) => allowed.revoke({ channel, accountId, senderId }),
  };
}

/** Handlers of `channels.pairing.*`. */
export function channelPairingHandlers({ pairing, allowed, notify }: ChannelPairingPort): Handlers {
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
    ...(allowed ? allowedHandlers(allowed) : {}),
  };
}

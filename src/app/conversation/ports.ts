import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { createAllowed, namedOwners, withOwner, type PairedSender } from "../../channels/index.ts";
import type { Config } from "../../config/index.ts";
import type { Messages } from "../../conversation/index.ts";
import type { ConversationRoom } from "./open.ts";

/** Strangers of channels, as the gateway's methods decide about them. */
export function pairingPort({ pairing, channels }: ConversationRoom, { config, log }: { readonly config: Config; readonly log: Logger }) {
  return {
    pairing,
    allowed: createAllowed({ pairing, config: () => config.current }),
    owners: {
      list: () => namedOwners(config.current),
      async change({ channel, senderId }: { readonly channel: string; readonly senderId: string }, wanted: boolean, by: string): Promise<void> {
        await config.edit({ kind: "change", change: (written) => withOwner(written, channel, senderId, wanted) }, { by });
      },
    },
    async notify({ channel, senderId }: PairedSender): Promise<boolean> {
      const adapter = channels.get(channel)?.pairing;
      if (!adapter?.notifyApproval) return false;
      try {
        await adapter.notifyApproval({ cfg: structuredClone(config.current), id: senderId });
        return true;
      } catch (error) {
        log.subsystem("channels").warn(`${channel} could not tell a sender of being let in: ${messageOf(error)}`);
        return false;
      }
    },
  };
}

/** Sending on request, as the gateway's methods ask for it. */
export function messagesPort({ messages }: Pick<ConversationRoom, "messages">): Pick<Messages, "send" | "poll" | "action"> {
  return {
    send: async (request) => (await messages()).send(request),
    poll: async (request) => (await messages()).poll(request),
    action: async (request) => (await messages()).action(request),
  };
}

import { isOwner, type KnownSender } from "../../channels/index.ts";
import type { ChannelPlugin, HostConfig } from "../../protocol/index.ts";

/** Whether a sender is an owner now. */
export type IsOwner = (sender: KnownSender) => boolean;

/** Asks the configuration as it is, with ids spelled as each channel spells them. */
export function ownersBy(config: () => HostConfig, channels: { get(id: string): ChannelPlugin | undefined }): IsOwner {
  return (sender) => isOwner(config(), sender, { plugin: channels.get(sender.channel) });
}

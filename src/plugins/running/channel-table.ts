import type { Channels } from "../../channels/index.ts";
import type { ChannelTable } from "../../conversation/index.ts";
import type { ChannelDock, ChannelPlugin } from "../../protocol/index.ts";
import type { Plugins } from "./create-plugins.ts";

/** The channels of the plugins that run at the moment of each call. */
export function channelTable(plugins: Pick<Plugins, "registries">): ChannelTable {
  let connections: Pick<Channels, "canSend" | "isReceiving"> | undefined;
  const found = (id: string) => plugins.registries()?.channels.get(id)?.value;
  return {
    get: (id) => found(id)?.plugin as ChannelPlugin | undefined,
    list: () => (plugins.registries()?.channels.list() ?? []).map(({ value }) => value.plugin as unknown as ChannelPlugin),
    dock: (id) => found(id)?.dock as ChannelDock | undefined,
    running: (channel, accountId) => connections?.canSend(channel, accountId) ?? true,
    receiving: (channel, accountId) => connections?.isReceiving(channel, accountId) ?? true,
    follow: (followed) => void (connections = followed),
  };
}

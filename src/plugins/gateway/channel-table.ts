import type { Channels } from "../../channels/index.ts";
import type { ChannelDock, ChannelPlugin } from "../../protocol/index.ts";
import type { Plugins } from "../plugins/index.ts";

/** Channels of the plugins that run now. */
export interface AppChannels {
  get(id: string): ChannelPlugin | undefined;
  list(): readonly ChannelPlugin[];
  dock(id: string): ChannelDock | undefined;
  /** Whether an account can send at the moment. */
  running(channel: string, accountId: string): boolean;
  /** False while it does not receive: what cannot be sent then waits longer. */
  receiving(channel: string, accountId: string): boolean;
  /** From now on these connections say who can send. */
  follow(connections: Pick<Channels, "canSend" | "isReceiving">): void;
}

/** Plugins come and go while the gateway runs: what is found is what is there now. */
export function channelTable(plugins: Pick<Plugins, "registries">): AppChannels {
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

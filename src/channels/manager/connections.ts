import type { HostConfig } from "../../protocol/index.ts";
import { createChannelActivity } from "../inbound/index.ts";
import { accountIds, viewAccount } from "./account.ts";
import { createConnection, type Connection, type Ready } from "./connection.ts";
import type { ChannelsDeps } from "./types.ts";

export interface AccountConnection {
  readonly channel: string;
  readonly accountId: string;
  readonly connection: Connection;
}

/** Connections by channel and account. One is created on first use, and stays: it holds the state of its account. */
export interface Connections {
  all(): readonly AccountConnection[];
  get(channel: string, accountId: string): Connection | undefined;
  need(channel: string, accountId: string): Connection;
}

/** Plugins get copies, which they may change. */
export const copyOf = (config: HostConfig): HostConfig => structuredClone(config);

export function createConnections(deps: ChannelsDeps): Connections {
  const { clock, random, table } = deps;
  const activity = deps.activity ?? createChannelActivity(clock);
  const connections = new Map<string, AccountConnection>();
  const keyOf = (channel: string, accountId: string): string => `${channel}\0${accountId}`;

  async function prepare(channel: string, accountId: string): Promise<Ready> {
    const plugin = table.get(channel);
    const cfg = copyOf(deps.config());
    if (!plugin || !accountIds(plugin, cfg).includes(accountId)) return undefined;
    return { plugin, cfg, view: await viewAccount(plugin, accountId, cfg, clock) };
  }

  function create(channel: string, accountId: string): AccountConnection {
    const connection = createConnection({
      channel,
      accountId,
      prepare: () => prepare(channel, accountId),
      inbound: () => deps.inbound(channel, accountId),
      clock,
      random,
      log: deps.log.subsystem(`channels/${channel}`),
      onInbound: () => activity.record({ channel, accountId, direction: "inbound" }),
      sentAt: () => activity.get({ channel, accountId }).outboundAt,
      trouble: () => activity.trouble({ channel, accountId }),
      onChange: (health) => deps.onChange?.({ channel, accountId, ...health }),
    });
    return { channel, accountId, connection };
  }

  return {
    all: () => [...connections.values()],
    get: (channel, accountId) => connections.get(keyOf(channel, accountId))?.connection,
    need(channel, accountId) {
      const key = keyOf(channel, accountId);
      const entry = connections.get(key) ?? create(channel, accountId);
      connections.set(key, entry);
      return entry.connection;
    },
  };
}

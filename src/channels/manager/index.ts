export { createChannels } from "./channels.ts";
export { defaultAccount } from "./account.ts";
export { AGENT_CAPABILITIES, CAPABILITIES, inOrder } from "./order.ts";
export type {
  AccountHealth,
  AccountState,
  ChannelAccount,
  ChannelLogout,
  Channels,
  ChannelsDeps,
  ChannelsStatus,
  ChannelTable,
  Misconfiguration,
  QrLogin,
} from "./types.ts";

export { createChannels } from "./channels.ts";
export { defaultAccount } from "./account.ts";
export { inOrder } from "./order.ts";
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

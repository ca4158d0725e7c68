export {
  createChannelConfigUiHints,
  createChannelPluginBase,
  createChatChannelPlugin,
  defineChannelPluginEntry,
  defineSetupPluginEntry,
} from "../entry/chat-channel.ts";
export { buildChannelConfigSchema } from "../config/schemas.ts";
export { buildChannelOutboundSessionRoute, stripChannelTargetPrefix, stripTargetKindPrefix } from "../messages/session-keys.ts";
export { tryReadSecretFileSync } from "../config/secret-files.ts";

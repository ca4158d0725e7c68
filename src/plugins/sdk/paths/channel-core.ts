export {
  createChannelConfigUiHints,
  createChannelPluginBase,
  createChatChannelPlugin,
  defineChannelPluginEntry,
  defineSetupPluginEntry,
} from "../newer/chat-channel.ts";
export { buildChannelConfigSchema } from "../schemas.ts";
export { buildChannelOutboundSessionRoute, stripChannelTargetPrefix, stripTargetKindPrefix } from "../newer/session-keys.ts";
export { tryReadSecretFileSync } from "../newer/secret-files.ts";

export { defineBundledChannelEntry, defineBundledChannelSetupEntry, loadBundledEntryExportSync } from "../newer/channel-entry.ts";

export { defineBundledChannelEntry, defineBundledChannelSetupEntry, loadBundledEntryExportSync } from "../entry/channel-entry.ts";

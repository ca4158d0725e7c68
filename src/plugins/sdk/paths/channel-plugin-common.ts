export { DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
export { formatPairingApproveHint, PAIRING_APPROVED_MESSAGE } from "../messages/replies.ts";
export { buildChannelConfigSchema } from "../config/schemas.ts";
export { emptyPluginConfigSchema } from "../entry/plugin-config.ts";
export {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "../config/config-sections.ts";

export { DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
export { formatPairingApproveHint, PAIRING_APPROVED_MESSAGE } from "../replies.ts";
export { buildChannelConfigSchema } from "../schemas.ts";
export { emptyPluginConfigSchema } from "../plugin-config.ts";
export {
  applyAccountNameToChannelSection,
  deleteAccountFromConfigSection,
  migrateBaseNameToDefaultAccount,
  setAccountEnabledInConfigSection,
} from "../config-sections.ts";

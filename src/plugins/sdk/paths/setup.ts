/** Onboarding of channels. */
export { addWildcardAllowFrom, mergeAllowFromEntries } from "../access/allow-lists.ts";
export { applyAccountNameToChannelSection, migrateBaseNameToDefaultAccount } from "../config/config-sections.ts";
export { DEFAULT_ACCOUNT_ID, normalizeAccountId } from "../account-ids.ts";
export { detectBinary, formatCliCommand } from "../environment.ts";
export { formatDocsLink, normalizeE164 } from "../text.ts";
export { hasConfiguredSecretInput, normalizeSecretInputString } from "../config/secrets.ts";
export { promptAccountId, promptChannelAccessConfig } from "../config/prompts.ts";
export { setSetupChannelEnabled, splitSetupEntries } from "../config/setup.ts";
export type { ChannelOnboardingAdapter, ChannelOnboardingDmPolicy, ChannelSetupAdapter, ChannelSetupInput, WizardPrompter } from "../../../protocol/index.ts";
export {
  applySetupAccountConfigPatch,
  createPatchedAccountSetupAdapter,
  createSetupInputPresenceValidator,
  createTopLevelChannelAllowFromSetter,
  createTopLevelChannelDmPolicy,
  createTopLevelChannelDmPolicySetter,
  createTopLevelChannelGroupPolicySetter,
  createTopLevelChannelParsedAllowFromPrompt,
  parseSetupEntriesWithParser,
  patchScopedAccountConfig,
  patchTopLevelChannelConfigSection,
  setTopLevelChannelDmPolicyWithAllowFrom,
} from "../config/setup-config.ts";
export {
  buildSingleChannelSecretPromptState,
  createDelegatedSetupWizardProxy,
  createSetupTranslator,
  createStandardChannelSetupStatus,
  defineTokenCredential,
  promptSingleChannelSecretInput,
  runSingleChannelSecretStep,
} from "../config/setup-wizard.ts";

export { createDelegatedSetupWizardProxy, createSetupTranslator, createStandardChannelSetupStatus } from "../newer/setup-wizard.ts";
export { patchTopLevelChannelConfigSection } from "../newer/setup-config.ts";

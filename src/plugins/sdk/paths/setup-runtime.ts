export { createDelegatedSetupWizardProxy, createSetupTranslator, createStandardChannelSetupStatus } from "../config/setup-wizard.ts";
export { patchTopLevelChannelConfigSection } from "../config/setup-config.ts";

export { allowlistOf, notAllowed, notAllowedText, type Allowlist } from "./allowlist.ts";
export { contextWindowOf, describeWindow, MINIMUM_CONTEXT, TIGHT_CONTEXT, type ContextWindow } from "./context-window.ts";
export { imageModels } from "./image-models.ts";
export { canonicalRef, DEFAULT_REF, formatRef, OFFLINE_REF, parseRef, sameRef, type ModelRef } from "./ref.ts";
export { describeChoice, selectModel, standardChoice, type DescribedChoice, type Selection, type SelectionInput, type SelectionSource } from "./select.ts";
export { agentChoice, aliasesOf, choiceOf, readRef, type ModelChoice, type ReadRef } from "./settings.ts";
export { defaultThinking, thinkingFor, thinkingLevels } from "./thinking.ts";

/** The first steps: a model, a channel, a gateway. The same for a terminal, a page and a script. Loaded by who needs it. */
export { asksForSecret, isLeft, type Asker } from "./asker.ts";
export { KEY_FLAGS } from "./auth-choices.ts";
export { channelOffers, stepsFor, type ChannelOffer } from "./channel-offers.ts";
export { accountFromInput, accountFromQuestions, guardedSetup, type MadeAccount } from "./channel-account.ts";
export { configure, SECTIONS, type Section } from "./configure.ts";
export { BINDS, NODE_MANAGERS, RESET_SCOPES, TAILSCALE_MODES, type ResetScope, type SetupAnswers } from "./answers.ts";
export { onboard, type OnboardResult } from "./onboard.ts";
export type { LoginPort, ProgramsPort, ServicePort, SetupHost } from "./host.ts";
export { moveOut, putAside, stampOf, STATE_PARTS, workspaceOf } from "./reset.ts";
export { prepareFolders } from "./steps/workspace.ts";
export { openSetup } from "./inside/open.ts";
export type { QuickDeps } from "./inside/quick.ts";

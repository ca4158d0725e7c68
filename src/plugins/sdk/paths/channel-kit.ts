/** What channels are made of; see docs/channels/kit.md. */
export {
  type AccountReader,
  type ChannelAccount,
  createAccountReader,
  type CredentialSource,
  type CredentialSpec,
  type FoundSecret,
  groupLayers,
  type GroupRules,
  type PerAccount,
  perAccount,
  readSecret,
  rulesOf,
} from "../kit/accounts.ts";
export { type ActionSpec, type ActionsSpec, chatParam, createActions, editedText, emojiName, messageParam, reactionParam } from "../kit/actions.ts";
export { type ChannelDescription, defineChannel } from "../kit/channel.ts";
export { type Cache, type Clients, type ClientsSpec, createCache, createClients, createRecent, type Recent } from "../kit/clients.ts";
export { type AccountRun, type AccountRunOptions, keepConnected } from "../kit/connection.ts";
export {
  buttonRows,
  type ChannelHead,
  createTargetReader,
  createTargets,
  createThreading,
  type ReplyButton,
  requestOutbound,
  type TargetsSpec,
  type WebChannelOptions,
  webChannelHead,
} from "../kit/conventions.ts";
export { type Cursor, type CursorStore, keyedCursorStore, openCursor } from "../kit/cursor.ts";
export { asChannelError, ChannelError, type ChannelErrorFacts, hopeless, messageOf, notSent, unfit, unsure } from "../kit/failure.ts";
export {
  choiceOf,
  defined,
  entriesOf,
  type Fields,
  fieldsOf,
  flagOf,
  jsonOf,
  listOf,
  numberOf,
  recordsOf,
  textOf,
  textsOf,
  trimmedOf,
  wholeOf,
} from "../kit/fields.ts";
export {
  createHttpClient,
  createPauses,
  type HttpAnswer,
  type HttpClient,
  type HttpClientOptions,
  type HttpRequest,
  type Pauses,
  type Refusal,
  refusedHost,
  retryAfterMs,
} from "../kit/http.ts";
export { createIntake, type Intake, type IntakeDeps, type KitLog, silentLog } from "../kit/intake.ts";
export { type FilePart, safeFileName } from "../kit/multipart.ts";
export { type ChannelOnboardingSpec, createOnboarding } from "../kit/onboarding.ts";
export type { KindRule, MediaRules, OutgoingFile } from "../../../media/index.ts";
export {
  configuredDirectory,
  filesNotSent,
  loadOutgoingFiles,
  matching,
  mediaKindOf,
  type OutgoingContext,
  type OutgoingFiles,
  unseen,
} from "../kit/outgoing.ts";
export type { ChannelFinding } from "../../../protocol/index.ts";
export { type ChannelProgram, type ChannelRulesSpec, type ChannelWebhook, voiceNotePrograms } from "../kit/rules.ts";
export { type ChannelParts, type ChannelPartsSpec, type ChannelProbe, createChannelParts, runProbe } from "../kit/parts.ts";
export { createEditedPreview, type EditedPreviewDeps } from "../kit/preview.ts";
export { endLeftover, type Program, type ProgramExit, type ProgramOptions, startProgram } from "../kit/program.ts";
export { openRpcProcess, type RpcProcess, type RpcProcessEnd, type RpcProcessOptions, type RpcRequestOptions } from "../kit/rpc-process.ts";
export { openSocket, type Socket, type SocketEnd, type SocketOptions } from "../kit/socket.ts";
export { createTransport, type Transport, type TransportAnswer, TransportError, type TransportOptions, type TransportRequest } from "../kit/transport.ts";
export { type Backoff, type BackoffSettings, createBackoff, realWaiting, type Waiting } from "../kit/waiting.ts";
export {
  createWebhooks,
  type HmacCheck,
  isFresh,
  type Verified,
  verifyHmac,
  type WebhookAnswer,
  type WebhookOptions,
  type WebhookRequest,
} from "../kit/webhook.ts";
export { equalSecrets } from "../../../base/equal-secrets.ts";

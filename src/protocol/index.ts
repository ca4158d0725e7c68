/**
 * The vocabulary that all modules share: what a transcript line and a session entry look like, how a session is named, and the wire: frames, methods and
 * events. The entry point. Importing it loads no schema library in the bundle.
 */
import type { AnswerChecks } from "./answers.ts";
import type * as A2ui from "./a2ui/index.ts";
import type * as NodeClient from "./client/node.ts";
import type { Validators } from "./check.ts";

export { isDroppable, isFor, type Audience, type Droppable, type EventFacts } from "./audience.ts";
export type { AskedCommandView, ChatEntry, PendingMessage, ShownRun } from "./chat-entry.ts";
export { EVENTS, METHODS, type EventName, type EventPayload, type MethodName, type MethodParams, type MethodResult } from "./catalog.ts";
export type { A2uiMessage, A2uiModel } from "./a2ui/index.ts";
export { CAPABILITIES } from "./capabilities.ts";
export type { ClientInfo, ConnectParams, HelloOk } from "./connect.ts";
export type { AgentDelta } from "./events.ts";
export type { ErrorShape, EventFrame, RequestFrame, ResponseFrame, StateVersion } from "./frames.ts";
export type { Health } from "./health.ts";
export type { GatewayClient, NodeConnectOptions, RequestOptions } from "./client/node.ts";
export { CLOSE, LIMITS, PROTOCOL_ERROR_CODES, PROTOCOL_VERSION, type ProtocolErrorCode } from "./limits.ts";
export type { MethodFacts } from "./method.ts";
export type { Presence } from "./presence.ts";
export { covers, SCOPES, type Access, type Role, type Scope } from "./scopes.ts";
export { CRON_FIELDS, jobProblems, normalizeCronAdd, normalizeCronUpdate, normalizeJob, normalizeNewJob } from "./cron-input.ts";
export {
  agentOfKey,
  canonicalSessionKey,
  formatSessionKey,
  parseSessionKey,
  resolveSessionKey,
  type ResolvedSessionKey,
  type SessionKey,
  type SessionNaming,
} from "./session-key.ts";
export { mediaLine, shownAnswer } from "./shown-answer.ts";
export { heartbeatReason, heartbeatText } from "./heartbeat-text.ts";
export { flatBranch, subagentTree, waitsFor, type SubagentBranch } from "./subagent-tree.ts";
export type { SessionRow } from "./session-row.ts";
export { parseTranscriptLine, type TranscriptLine, type TranscriptHeader, type TranscriptEntry, type SessionEntry } from "./transcript.ts";
export type { AnswerChecks } from "./answers.ts";
export type * from "./model-messages.ts";
export type * from "./vocabulary/index.ts";
export type { Validators } from "./check.ts";

/** Loads the checks of what clients send; each is made at its first use. */
export async function loadValidators(): Promise<Validators> {
  return (await import("./check.ts")).createValidators();
}

/** Loads the checks and the model of A2UI. */
export const loadA2ui = async (): Promise<typeof A2ui> => import("./a2ui/index.ts");

/** Loads the checks of what the gateway says, for tests. */
export async function loadAnswerChecks(): Promise<AnswerChecks> {
  return (await import("./answers.ts")).createAnswerChecks();
}

/** Loads the client for programs on Node. Browsers import `client/index.ts` by itself. */
export async function loadNodeClient(): Promise<typeof NodeClient> {
  return import("./client/node.ts");
}

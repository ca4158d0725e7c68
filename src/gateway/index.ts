/**
 * The hub that clients, devices and web pages talk to: one port for HTTP and WebSocket.
 * The entry point.
 */
export { networkAddress, resolveBinding } from "./bind.ts";
export { createGateway, type Gateway, type GatewayDeps, type GatewayHub } from "./create-gateway.ts";
export { FAILED, RESTARTING, STOPPING, type StopReason } from "./stop-reason.ts";
export { answerEarly, listen, openServer, type GatewayServer, type ServerDeps, type ServerSettings } from "./server.ts";
export { openAuth, settingsFrom, type Auth } from "./auth/index.ts";
export { createHandlers, sessionDefaults } from "./methods/handlers.ts";
export type { ChannelPairingPort } from "./methods/channels-pairing.ts";
export { createLoginLink } from "./methods/login.ts";
export type { HeartbeatPort } from "./methods/heartbeat.ts";
export { mainSession, queueSystemEvent, systemEventWrite, type SystemEvent } from "./system-events.ts";
export type { EndingSession, RestartReport, RestartRequest, SentinelPayload, SessionEndings } from "./methods/deps.ts";
export type { HealthReport, HealthState } from "./health.ts";
export type {
  AcceptedRun,
  AgentPort,
  ApprovalsPort,
  CompactionReport,
  ExecRulesPort,
  FetchFile,
  FetchLimits,
  ListedTool,
  Responder,
  RunEvent,
  RunOutcome,
  RunRequest,
  RunUsage,
  ToolEvent,
  ToolExplanation,
  ToolFactsPort,
  ToolInvocation,
  ToolsPort,
} from "./ports.ts";
export type { PluginRoute, Route } from "./http/index.ts";
export type { SkillAdminPort, SkillSourceRequest } from "./methods/skill-changes.ts";
export type { PluginAdminPort, PluginsPort, SwitchEffect } from "./methods/plugins.ts";
export type { PluginSectionsPort } from "./methods/config.ts";
export type { OverviewPort } from "./methods/overview.ts";
export type { ChannelsPort } from "./methods/channels.ts";
export { memoryHandlers, type MemoryPort } from "./methods/memory.ts";
export type { ModelsPort } from "./methods/models.ts";
export type { MessagesPort } from "./methods/send.ts";
export type { SentFilePort } from "./methods/view/whole-entry.ts";
export type { SecurityPort } from "./methods/security.ts";
export type { BudgetsPort, QuotaPort } from "./methods/usage.ts";
export type { QuickSetupPort, SetupPort } from "./methods/setup.ts";
export type { WizardPort } from "./methods/wizard.ts";
export { COMMAND_CALLER, ownCaller, type OwnCaller } from "./methods/handler.ts";
export type { Answer, CallContext, Caller, ExtraMethods, Handler, Handlers } from "./methods/index.ts";
export type { ConfigChange, GatewayActions, GatewayToolDeps } from "./tools/gateway-tool.ts";
export { createEndedSessions, type EndedSessions } from "./session-endings.ts";
export { reportHealth, startedNow } from "./report-health.ts";
export { endOf } from "./restart/close.ts";
export { createRestarts, requestBySignal, restartNotes } from "./restart/schedule.ts";
export { createWatchdog, readLastExit } from "./watchdog.ts";

/** Writes a session for people or programs. */
export const loadExport = () => import("./methods/view/export.ts");
/** The tool with which an agent looks after the gateway. Loaded when the first message is answered. */
export const loadGatewayTool = () => import("./tools/gateway-tool.ts");

/** Loads the code of the HTTP entrances that begin turns. */
export async function loadHttpTurns(): Promise<void> {
  await Promise.all([import("./http/openai/chat-completions.ts"), import("./http/openai/responses.ts"), import("./http/tools-invoke.ts")]);
}

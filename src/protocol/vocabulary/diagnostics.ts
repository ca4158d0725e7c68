/** Events about the gateway's own work, while `diagnostics.enabled` is set. */
export type DiagnosticSessionState = "idle" | "processing" | "waiting";

interface Stamped {
  /** Milliseconds since the epoch. */
  ts: number;
  seq: number;
}

interface AboutSession {
  sessionKey?: string | undefined;
  sessionId?: string | undefined;
}

interface TokenCounts {
  input?: number | undefined;
  output?: number | undefined;
  cacheRead?: number | undefined;
  cacheWrite?: number | undefined;
  total?: number | undefined;
}

export interface DiagnosticUsageEvent extends Stamped, AboutSession {
  type: "model.usage";
  channel?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  usage: TokenCounts & { promptTokens?: number | undefined };
  lastCallUsage?: TokenCounts | undefined;
  context?: { limit?: number | undefined; used?: number | undefined } | undefined;
  costUsd?: number | undefined;
  durationMs?: number | undefined;
}

interface AboutWebhook extends Stamped {
  channel: string;
  updateType?: string | undefined;
  chatId?: number | string | undefined;
}

export interface DiagnosticWebhookReceivedEvent extends AboutWebhook {
  type: "webhook.received";
}

export interface DiagnosticWebhookProcessedEvent extends AboutWebhook {
  type: "webhook.processed";
  durationMs?: number | undefined;
}

export interface DiagnosticWebhookErrorEvent extends AboutWebhook {
  type: "webhook.error";
  error: string;
}

export interface DiagnosticMessageQueuedEvent extends Stamped, AboutSession {
  type: "message.queued";
  channel?: string | undefined;
  source: string;
  queueDepth?: number | undefined;
}

export interface DiagnosticMessageProcessedEvent extends Stamped, AboutSession {
  type: "message.processed";
  channel: string;
  messageId?: number | string | undefined;
  chatId?: number | string | undefined;
  durationMs?: number | undefined;
  outcome: "completed" | "skipped" | "error";
  reason?: string | undefined;
  error?: string | undefined;
}

export interface DiagnosticSessionStateEvent extends Stamped, AboutSession {
  type: "session.state";
  prevState?: DiagnosticSessionState | undefined;
  state: DiagnosticSessionState;
  reason?: string | undefined;
  queueDepth?: number | undefined;
}

export interface DiagnosticSessionStuckEvent extends Stamped, AboutSession {
  type: "session.stuck";
  state: DiagnosticSessionState;
  ageMs: number;
  queueDepth?: number | undefined;
}

export interface DiagnosticLaneEnqueueEvent extends Stamped {
  type: "queue.lane.enqueue";
  lane: string;
  queueSize: number;
}

export interface DiagnosticLaneDequeueEvent extends Stamped {
  type: "queue.lane.dequeue";
  lane: string;
  queueSize: number;
  waitMs: number;
}

export interface DiagnosticRunAttemptEvent extends Stamped, AboutSession {
  type: "run.attempt";
  runId: string;
  attempt: number;
}

export interface DiagnosticHeartbeatEvent extends Stamped {
  type: "diagnostic.heartbeat";
  webhooks: { received: number; processed: number; errors: number };
  active: number;
  waiting: number;
  queued: number;
}

export interface DiagnosticToolLoopEvent extends Stamped, AboutSession {
  type: "tool.loop";
  toolName: string;
  level: "warning" | "critical";
  action: "warn" | "block";
  detector: string;
  count: number;
  message: string;
  pairedToolName?: string | undefined;
}

export type DiagnosticEventPayload =
  | DiagnosticUsageEvent
  | DiagnosticWebhookReceivedEvent
  | DiagnosticWebhookProcessedEvent
  | DiagnosticWebhookErrorEvent
  | DiagnosticMessageQueuedEvent
  | DiagnosticMessageProcessedEvent
  | DiagnosticSessionStateEvent
  | DiagnosticSessionStuckEvent
  | DiagnosticLaneEnqueueEvent
  | DiagnosticLaneDequeueEvent
  | DiagnosticRunAttemptEvent
  | DiagnosticHeartbeatEvent
  | DiagnosticToolLoopEvent;

type Unstamped<Event> = Event extends Stamped ? Omit<Event, "ts" | "seq"> : never;

/** What is emitted: the bus adds time and number. */
export type DiagnosticEventInput = Unstamped<DiagnosticEventPayload>;

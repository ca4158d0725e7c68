/** Members that plugins for newer hosts look for. All are optional: a plugin asks whether they are there. */

export interface KeyedStore<T = unknown> {
  register(key: string, value: T, options?: { ttlMs?: number }): Promise<void>;
  registerIfAbsent(key: string, value: T, options?: { ttlMs?: number }): Promise<boolean>;
  lookup(key: string): Promise<T | undefined>;
  consume(key: string): Promise<T | undefined>;
  delete(key: string): Promise<boolean>;
  entries(): Promise<{ key: string; value: T; createdAt: number; expiresAt?: number | undefined }[]>;
  clear(): Promise<void>;
}

export interface KeyedStoreOptions {
  namespace: string;
  maxEntries?: number | undefined;
  defaultTtlMs?: number | undefined;
}

export interface RuntimeStateStores {
  openKeyedStore?<T = unknown>(options: KeyedStoreOptions): KeyedStore<T>;
  openSyncKeyedStore?(options: KeyedStoreOptions): unknown;
  openBlobStore?(options: Record<string, unknown>): unknown;
  openChannelIngressQueue?(options: Record<string, unknown>): unknown;
  openChannelIngressDrain?(options: Record<string, unknown>): unknown;
}

type Part = Record<string, (...args: never[]) => unknown>;

export interface SubagentRunParams {
  /** `agent:<id>:subagent:<name>`; one that is not there yet becomes the plugin's own. */
  sessionKey: string;
  message: string;
  /** With `model`: needs `plugins.entries.<id>.subagent.allowModelOverride`. */
  provider?: string | undefined;
  model?: string | undefined;
  extraSystemPrompt?: string | undefined;
  lane?: string | undefined;
  /** The answer also goes to the chat of the session. */
  deliver?: boolean | undefined;
  /** The same one is the same run. */
  idempotencyKey?: string | undefined;
  disableTools?: boolean | undefined;
  promptMode?: "minimal" | undefined;
  toolsAlsoAllow?: string[] | undefined;
  completionDelivery?: "current-requester" | undefined;
}

export interface SubagentWaitResult {
  runId: string;
  /** `timeout`: it has not ended yet, or was stopped. */
  status: "ok" | "error" | "timeout";
  error?: string | undefined;
  startedAt?: number | undefined;
  endedAt?: number | undefined;
}

/** Runs of agents that a plugin asks for. */
export interface RuntimeSubagent {
  run(params: SubagentRunParams): Promise<{ runId: string; sessionKey: string }>;
  /** Waits at most `timeoutMs` (30 s); the run goes on. */
  waitForRun(params: { runId: string; timeoutMs?: number | undefined }): Promise<SubagentWaitResult>;
  getSessionMessages(params: { sessionKey: string; limit?: number | undefined }): Promise<{ messages: unknown[] }>;
  /** Only sessions that this plugin began. */
  deleteSession(params: { sessionKey: string; deleteTranscript?: boolean | undefined }): Promise<void>;
  /** One answer without tools, in no session that stays. */
  complete(params: {
    agentId: string;
    message: string;
    extraSystemPrompt?: string | undefined;
    model?: string | undefined;
    timeoutMs?: number | undefined;
    signal?: AbortSignal | undefined;
  }): Promise<{ text: string }>;
}

export interface RuntimeNewer {
  agent?: Record<string, unknown> | undefined;
  llm?: { complete(params: Record<string, unknown>): Promise<unknown> } | undefined;
  subagent?: RuntimeSubagent | undefined;
  mediaUnderstanding?: Part | undefined;
  modelAuth?: Part | undefined;
  gateway?: { isAvailable(): boolean; request(method: string, params?: unknown): Promise<unknown> } | undefined;
  nodes?: Part | undefined;
  events?: Part | undefined;
  tasks?: Part | undefined;
}

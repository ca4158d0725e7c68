/**
 * One row of the session index, as the documented `sessions.json` holds it. `sessionId` and `updatedAt` are always there. Fields that this
 * version does not know are kept as they are: an entry that passes through here loses nothing.
 */
export interface SessionEntry {
  readonly sessionId: string;
  /** Milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly sessionFile?: string;
  readonly label?: string;
  readonly displayName?: string;
  /** Session key of the session that spawned this one. */
  readonly spawnedBy?: string;
  readonly spawnDepth?: number;
  readonly systemSent?: boolean;
  readonly abortedLastRun?: boolean;
  readonly chatType?: string;
  readonly channel?: string;
  readonly lastChannel?: string;
  readonly model?: string;
  readonly modelProvider?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly totalTokensFresh?: boolean;
  readonly contextTokens?: number;
  readonly [field: string]: unknown;
}

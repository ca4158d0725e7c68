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

export interface RuntimeNewer {
  agent?: Record<string, unknown> | undefined;
  llm?: { complete(params: Record<string, unknown>): Promise<unknown> } | undefined;
  subagent?: Part | undefined;
  mediaUnderstanding?: Part | undefined;
  modelAuth?: Part | undefined;
  gateway?: { isAvailable(): boolean; request(method: string, params?: unknown): Promise<unknown> } | undefined;
  nodes?: Part | undefined;
  events?: Part | undefined;
  tasks?: Part | undefined;
}

/** Who computes embeddings. `local` is a GGUF model in this process. */
export type ProviderId = "openai" | "gemini" | "voyage" | "mistral" | "ollama" | "local";

/** What one provider is asked with. It goes to the thread with each request and is neither stored nor logged. */
export interface ProviderAccess {
  readonly id: ProviderId;
  readonly model: string;
  /** Without a slash at its end; empty for `local`. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In order; the next one is used when the provider refuses one for its rate limit. None for servers that need no key. */
  readonly keys: readonly string[];
  readonly local?: LocalModel | undefined;
  /** USD per million tokens. */
  readonly cost: number;
}

export interface LocalModel {
  /** A file, or an address such as `hf:…` that is downloaded once. */
  readonly modelPath: string;
  readonly cacheDir?: string | undefined;
  /** Folders from which the package is looked for. */
  readonly packagesFrom: readonly string[];
}

/** `memorySearch.remote.batch`. */
export interface BatchSettings {
  readonly enabled: boolean;
  readonly wait: boolean;
  readonly concurrency: number;
  readonly pollIntervalMs: number;
  readonly timeoutMinutes: number;
}

/** Everything that the thread needs to embed for one agent. */
export interface EmbeddingSettings {
  readonly requested: ProviderId | "auto";
  readonly primary?: ProviderAccess | undefined;
  /** Why there is no primary provider. */
  readonly unavailable?: string | undefined;
  readonly fallback?: ProviderAccess | undefined;
  readonly batch: BatchSettings;
  readonly cache: { readonly enabled: boolean; readonly maxEntries?: number | undefined };
  readonly vector: { readonly enabled: boolean; readonly extensionPath?: string | undefined };
  /** `query.hybrid.enabled: false`. */
  readonly vectorsOnly: boolean;
  /** Version of this program, for the `user-agent` header. */
  readonly version: string;
}

/** What was spent on embeddings. */
export interface EmbeddingUsage {
  readonly provider: string;
  readonly model: string;
  readonly tokens: number;
  /** USD. */
  readonly cost: number;
  readonly ms: number;
  readonly failed: boolean;
}

/** The part of the memory's status that is about embeddings. */
export interface EmbeddingStatus {
  /** `none` without embeddings. */
  readonly provider: ProviderId | "none";
  readonly model?: string | undefined;
  readonly requestedProvider: ProviderId | "auto";
  readonly fallback?: { readonly from: string; readonly reason: string } | undefined;
  readonly vector: {
    readonly enabled: boolean;
    /** There are vectors to search. */
    readonly available: boolean;
    readonly dims?: number | undefined;
    readonly count: number;
    /** Passages that are not embedded yet. */
    readonly pending: number;
    /** How nearest passages are found. */
    readonly scan: "exact" | "int8" | "sqlite-vec";
    readonly extensionPath?: string | undefined;
    readonly loadError?: string | undefined;
  };
  readonly batch: {
    readonly enabled: boolean;
    readonly failures: number;
    readonly limit: number;
    readonly wait: boolean;
    readonly concurrency: number;
    readonly pollIntervalMs: number;
    readonly timeoutMs: number;
    readonly lastError?: string | undefined;
  };
  readonly cache: { readonly enabled: boolean; readonly entries: number; readonly maxEntries?: number | undefined };
  readonly custom: {
    readonly searchMode: "hybrid" | "fts-only" | "vector";
    readonly providerUnavailableReason?: string | undefined;
    /** Of a provider that fails now: since when, and when it is asked again at the earliest. Milliseconds since the epoch. */
    readonly providerFailingSinceMs?: number | undefined;
    readonly providerRetryAtMs?: number | undefined;
    /** Where it is asked; none for a local model. */
    readonly providerUrl?: string | undefined;
  };
  /** Result of a short request to the provider; only in a deep status. */
  readonly probe?: { readonly ok: boolean; readonly error?: string | undefined } | undefined;
}

export type TextKind = "query" | "document";

/** Vectors as a provider answered them, in the order of the texts. */
export interface Embedded {
  readonly vectors: readonly Float32Array[];
  /** As the provider counted them; estimated where it does not say. */
  readonly tokens: number;
}

export interface EmbedOptions {
  readonly kind: TextKind;
  /** For the whole request, with its retries. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Turns texts into vectors. Rejects with an `AppError` that says what the provider answered. */
export interface Embedder extends AsyncDisposable {
  readonly id: ProviderId;
  readonly model: string;
  /** Estimated tokens that one text may have; longer ones are cut. */
  readonly maxInputTokens: number;
  /** Texts in one request. */
  readonly maxTexts: number;
  embed(texts: readonly string[], options: EmbedOptions): Promise<Embedded>;
  /** With the provider's batch interface, where it has one. */
  readonly batch?: ((texts: readonly string[], options: BatchOptions) => Promise<Embedded>) | undefined;
}

export interface BatchOptions {
  readonly settings: BatchSettings;
  readonly signal: AbortSignal;
}

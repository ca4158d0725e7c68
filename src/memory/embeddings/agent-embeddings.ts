import { AppError, messageOf } from "../../base/errors.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { Near } from "../search/candidates.ts";
import type { OpenIndex } from "../storage/index-file.ts";
import { createActiveProvider, type ActiveProvider, type ActiveProviderDeps } from "./active-provider.ts";
import { isZero } from "./answers.ts";
import { cacheEntries } from "./cache.ts";
import { cutToTokens } from "./estimate.ts";
import { BATCH_FAILURES, createFilling, type Filling } from "./filling.ts";
import type { EmbeddingSettings, EmbeddingStatus } from "./types.ts";
import { openVectors, type Vectors, type VectorsOptions } from "./vectors.ts";

/** Embeddings of one agent's index. */
export interface AgentEmbeddings extends AsyncDisposable {
  /** Takes settings that came with a request. */
  configure(settings: EmbeddingSettings): void;
  /** Finds out what is near a question; undefined when the provider does not answer in time. What it resolves to looks at the vectors as they are then. */
  near(query: string): Promise<(() => Near | undefined) | undefined>;
  /** Who computes the vectors in use. */
  readonly provider: { readonly provider?: string; readonly model?: string };
  /** Embeds in the background what has no vector yet. */
  fill(): void;
  status(options: { readonly deep: boolean }): Promise<EmbeddingStatus>;
}

export interface AgentEmbeddingsDeps extends Omit<ActiveProviderDeps, "monotonic"> {
  /** The memory whose passages are embedded. */
  readonly library: { readonly settings: { readonly chunking: { readonly tokens: number; readonly overlap: number } }; readonly open: OpenIndex };
  readonly packagesFrom: readonly string[];
  /** Default 2 s. */
  readonly waitMs?: number | undefined;
  readonly floatBytes?: VectorsOptions["floatBytes"];
}

/** A search waits this long for the embedding of its question; then it answers by words. */
const WAIT_MS = 2000;
const QUERY_MS = 60_000;
const LOCAL_QUERY_MS = 300_000;
const PROBE_MS = 10_000;
const REMEMBERED = 64;

interface Opened {
  readonly vectors: Vectors;
  readonly filling: Filling;
  readonly current: OpenIndex;
  readonly providerKey: string;
  close(): void;
}

/** The result, or undefined after a time. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await Promise.race([work, new Promise<undefined>((late) => (timer = setTimeout(() => late(undefined), ms)))]);
  } finally {
    clearTimeout(timer);
  }
}

class Semantic implements AgentEmbeddings {
  readonly #deps: AgentEmbeddingsDeps;
  readonly #waitMs: number;
  readonly #redactor = createRedactor();
  readonly #ended = new AbortController();
  readonly #questions = new Map<string, Promise<Float32Array>>();
  #settings: EmbeddingSettings;
  #active: ActiveProvider;
  #opened: Opened | undefined;
  #running: Promise<void> | undefined;
  /** A question that took longer than a search waits. Until it is answered, others are not asked. */
  #slow: Promise<unknown> | undefined;
  #slowReason: string | undefined;

  constructor(settings: EmbeddingSettings, deps: AgentEmbeddingsDeps) {
    this.#deps = deps;
    this.#waitMs = deps.waitMs ?? WAIT_MS;
    this.#settings = settings;
    this.#active = this.#activeFor(settings);
  }

  get provider(): AgentEmbeddings["provider"] {
    const { access } = this.#active;
    return access ? { provider: access.id, model: access.model } : {};
  }

  configure(settings: EmbeddingSettings): void {
    if (JSON.stringify(settings) === JSON.stringify(this.#settings)) return;
    this.#settings = settings;
    void this.#active[Symbol.asyncDispose]();
    this.#active = this.#activeFor(settings);
    this.#slowReason = undefined;
    this.#questions.clear();
    this.#close();
  }

  async near(query: string): Promise<(() => Near | undefined) | undefined> {
    try {
      return await this.#find(query);
    } catch {
      return undefined; // The status says why.
    }
  }

  fill(): void {
    const { signal } = this.#ended;
    if (signal.aborted || this.#running) return;
    this.#running = this.#fillAll()
      .catch((error: unknown) => {
        // A provider that fails was reported when it began to.
        if (!signal.aborted && this.#active.reason !== messageOf(error)) this.#deps.notice(`embeddings are incomplete: ${messageOf(error)}`);
      })
      .finally(() => (this.#running = undefined));
  }

  async status({ deep }: { readonly deep: boolean }): Promise<EmbeddingStatus> {
    const probe = deep && this.#active.embedder ? await this.#probe() : undefined;
    const opened = this.#open();
    await opened?.vectors.load();
    const { library } = this.#deps;
    const reason = this.#active.reason ?? this.#slowReason;
    return statusOf({
      settings: this.#settings,
      active: this.#active,
      opened,
      passages: library.open.passages.count(),
      cached: cacheEntries(library.open.index),
      reason,
      probe,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort(new AppError("CANCELLED", "the memory is closed"));
    this.#close();
    await this.#active[Symbol.asyncDispose]();
  }

  #activeFor(settings: EmbeddingSettings): ActiveProvider {
    return createActiveProvider(settings, { ...this.#deps, monotonic: () => performance.now() });
  }

  #close(): void {
    this.#opened?.close();
    this.#opened = undefined;
  }

  /** The vectors of the index in use for the provider in use. */
  #open(): Opened | undefined {
    const { library, now, notice, packagesFrom, floatBytes } = this.#deps;
    const [active, settings, ended] = [this.#active, this.#settings, this.#ended.signal];
    const { key } = active;
    if (!key || ended.aborted) return undefined;
    const current = library.open;
    if (this.#opened?.current === current && this.#opened.providerKey === key.providerKey) return this.#opened;
    this.#close();
    const { index } = current;
    const vectors = openVectors(index, { key, chunking: library.settings.chunking, vector: settings.vector, packagesFrom, floatBytes });
    const stopped = new AbortController();
    const isCurrent = (): boolean => !stopped.signal.aborted && !ended.aborted && library.open === current;
    const signal = AbortSignal.any([ended, stopped.signal]);
    const filling = createFilling({ index, vectors, active, key, settings, now, notice, isCurrent, signal });
    const removed = (id: number): void => vectors.removed(id);
    current.removed.add(removed);
    this.#opened = {
      vectors,
      filling,
      current,
      providerKey: key.providerKey,
      close() {
        stopped.abort(new AppError("CANCELLED", "the index is no longer in use"));
        current.removed.delete(removed);
        vectors[Symbol.dispose]();
      },
    };
    return this.#opened;
  }

  async #fillAll(): Promise<void> {
    for (let tries = 0; tries < 3; tries += 1) {
      const opened = this.#open();
      if (!opened || this.#active.isResting) return;
      const { vectors, filling, current } = opened;
      await vectors.load();
      if (opened !== this.#opened || vectors.size >= current.passages.count()) return;
      try {
        await filling.run();
        if (opened === this.#opened && vectors.size < current.passages.count()) await vectors.load();
        return;
      } catch (error) {
        if (this.#ended.signal.aborted) return;
        // With another provider it begins again; otherwise the next request does.
        if (opened.providerKey === this.#active.key?.providerKey) return this.#deps.notice(`embeddings are incomplete: ${messageOf(error)}`);
      }
    }
  }

  async #embedQuestion(query: string): Promise<Float32Array> {
    const isLocal = this.#active.access?.id === "local";
    const options = { kind: "query", timeoutMs: isLocal ? LOCAL_QUERY_MS : QUERY_MS, signal: this.#ended.signal } as const;
    const text = isLocal ? query : this.#redactor.text(query);
    const { vectors } = await this.#active.ask(async (embedder) => {
      const result = await embedder.embed([cutToTokens(text, embedder.maxInputTokens)], options);
      const [vector] = result.vectors;
      const known = this.#opened?.vectors;
      if (vector && known && !known.fits(vector))
        throw new AppError("UNAVAILABLE", `${embedder.id} returned ${vector.length} dimensions, but the index has ${known.dims}`);
      return result;
    });
    const [vector] = vectors;
    if (!vector) throw new AppError("UNAVAILABLE", "the provider returned no vector");
    return vector;
  }

  /** A question is asked once, also while it is being answered. */
  #questionVector(query: string, key: string): Promise<Float32Array> {
    const name = `${key}\n${query}`;
    const known = this.#questions.get(name);
    if (known) return known;
    const asked = this.#embedQuestion(query);
    this.#questions.set(name, asked);
    if (this.#questions.size > REMEMBERED) this.#questions.delete(this.#questions.keys().next().value ?? "");
    asked.catch(() => this.#questions.delete(name));
    return asked;
  }

  async #find(query: string): Promise<(() => Near | undefined) | undefined> {
    const opened = this.#open();
    const { key } = this.#active;
    if (!opened || !key || this.#active.isResting) return undefined;
    const { vectors, current } = opened;
    const isLoaded = await within(
      vectors.load().then(() => true),
      this.#waitMs,
    );
    if (isLoaded !== true || opened !== this.#opened || vectors.size === 0) return undefined;
    const asked = this.#questionVector(query, key.providerKey);
    const vector = await within(asked, this.#slow ? 0 : this.#waitMs);
    if (vector === undefined) {
      if (!this.#slow) this.#waitFor(asked, key.provider);
      return undefined;
    }
    if (isZero(vector)) return undefined;
    return () => (opened === this.#opened && current === this.#deps.library.open && vectors.fits(vector) ? vectors.near(vector) : undefined);
  }

  /** Until a slow question is answered, others are not waited for. */
  #waitFor(asked: Promise<unknown>, provider: string): void {
    this.#slowReason = `${provider} takes longer than ${this.#waitMs} ms for a query`;
    this.#slow = asked
      .then(() => (this.#slowReason = undefined))
      .catch(() => undefined)
      .finally(() => (this.#slow = undefined));
  }

  async #probe(): Promise<EmbeddingStatus["probe"]> {
    try {
      await this.#active.ask((embedder) => embedder.embed(["ping"], { kind: "query", timeoutMs: PROBE_MS, signal: this.#ended.signal }));
      return { ok: true };
    } catch (error) {
      return { ok: false, error: messageOf(error) };
    }
  }
}

interface StatusFacts {
  readonly settings: EmbeddingSettings;
  readonly active: ActiveProvider;
  readonly opened: Opened | undefined;
  readonly passages: number;
  readonly cached: number;
  readonly reason: string | undefined;
  readonly probe: EmbeddingStatus["probe"];
}

function statusOf({ settings, active, opened, passages, cached, reason, probe }: StatusFacts): EmbeddingStatus {
  const { access, fallback, failing } = active;
  const { vectors, filling } = opened ?? {};
  const { batch, cache } = settings;
  const count = vectors?.size ?? 0;
  const failures = filling?.batchFailures ?? 0;
  return {
    provider: access?.id ?? "none",
    ...(access ? { model: access.model } : {}),
    requestedProvider: settings.requested,
    ...(fallback ? { fallback } : {}),
    vector: {
      enabled: settings.vector.enabled,
      available: count > 0,
      ...(vectors?.dims === undefined ? {} : { dims: vectors.dims }),
      count,
      pending: access ? Math.max(0, passages - count) : 0,
      scan: vectors?.scan ?? "exact",
      ...(vectors?.extensionPath === undefined ? {} : { extensionPath: vectors.extensionPath }),
      ...(vectors?.loadError === undefined ? {} : { loadError: vectors.loadError }),
    },
    batch: {
      enabled: batch.enabled && active.embedder?.batch !== undefined && failures < BATCH_FAILURES,
      failures,
      limit: BATCH_FAILURES,
      wait: batch.wait,
      concurrency: batch.concurrency,
      pollIntervalMs: batch.pollIntervalMs,
      timeoutMs: batch.timeoutMinutes * 60_000,
      ...(filling?.batchError === undefined ? {} : { lastError: filling.batchError }),
    },
    cache: { enabled: cache.enabled, entries: cached, ...(cache.maxEntries === undefined ? {} : { maxEntries: cache.maxEntries }) },
    custom: {
      searchMode: access && reason === undefined ? (settings.vectorsOnly ? "vector" : "hybrid") : "fts-only",
      ...(reason === undefined ? {} : { providerUnavailableReason: reason }),
      ...(failing ? { providerFailingSinceMs: failing.since, providerRetryAtMs: failing.retryAt } : {}),
      ...(failing && access && access.baseUrl !== "" ? { providerUrl: access.baseUrl } : {}),
    },
    ...(probe ? { probe } : {}),
  };
}

export const createAgentEmbeddings = (settings: EmbeddingSettings, deps: AgentEmbeddingsDeps): AgentEmbeddings => new Semantic(settings, deps);

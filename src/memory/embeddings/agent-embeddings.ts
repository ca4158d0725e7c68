import { AppError, messageOf } from "../../base/errors.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { Near } from "../search/candidates.ts";
import type { Library } from "../thread/library.ts";
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
  /** Resolves when nothing is being embedded. */
  filled(): Promise<void>;
  status(options: { readonly deep: boolean }): Promise<EmbeddingStatus>;
}

export interface AgentEmbeddingsDeps extends Omit<ActiveProviderDeps, "monotonic"> {
  readonly library: Library;
  readonly now: () => number;
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
  readonly index: Library["open"];
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

export function createAgentEmbeddings(first: EmbeddingSettings, deps: AgentEmbeddingsDeps): AgentEmbeddings {
  const { library, notice, waitMs = WAIT_MS } = deps;
  const { settings: librarySettings } = library;
  const redactor = createRedactor();
  const ended = new AbortController();
  let settings = first;
  let active: ActiveProvider = activeFor(first);
  let opened: Opened | undefined;
  let running: Promise<void> | undefined;
  /** A question that took longer than a search waits. Until it is answered, others are not asked. */
  let slow: Promise<unknown> | undefined;
  let slowReason: string | undefined;
  const questions = new Map<string, Promise<Float32Array>>();

  function activeFor(chosen: EmbeddingSettings): ActiveProvider {
    return createActiveProvider(chosen, { ...deps, monotonic: () => performance.now() });
  }

  function close(): void {
    opened?.close();
    opened = undefined;
  }

  /** The vectors of the index in use for the provider in use. */
  function open(): Opened | undefined {
    const { key } = active;
    if (!key || ended.signal.aborted) return undefined;
    const current = library.open;
    if (opened?.index === current && opened.providerKey === key.providerKey) return opened;
    close();
    const { vector } = settings;
    const vectors = openVectors(current.index, {
      key,
      chunking: librarySettings.chunking,
      vector,
      packagesFrom: deps.packagesFrom,
      floatBytes: deps.floatBytes,
    });
    const stopped = new AbortController();
    const isCurrent = (): boolean => !stopped.signal.aborted && !ended.signal.aborted && library.open === current;
    const signal = AbortSignal.any([ended.signal, stopped.signal]);
    const filling = createFilling({ index: current.index, vectors, active, key, settings, now: deps.now, notice, isCurrent, signal });
    const removed = (id: number): void => vectors.removed(id);
    current.removed.add(removed);
    opened = {
      vectors,
      filling,
      index: current,
      providerKey: key.providerKey,
      close() {
        stopped.abort(new AppError("CANCELLED", "the index is no longer in use"));
        current.removed.delete(removed);
        vectors[Symbol.dispose]();
      },
    };
    return opened;
  }

  async function fillAll(): Promise<void> {
    for (let tries = 0; tries < 3; tries += 1) {
      const now = open();
      if (!now || active.isResting) return;
      await now.vectors.load();
      if (now !== opened || now.vectors.size >= now.index.passages.count()) return;
      try {
        await now.filling.run();
        if (now === opened && now.vectors.size < now.index.passages.count()) await now.vectors.load();
        return;
      } catch (error) {
        if (ended.signal.aborted) return;
        // With another provider it begins again; otherwise the next request does.
        if (now.providerKey === active.key?.providerKey) return notice(`embeddings are incomplete: ${messageOf(error)}`);
      }
    }
  }

  async function embedQuestion(query: string): Promise<Float32Array> {
    const isLocal = active.access?.id === "local";
    const timeoutMs = isLocal ? LOCAL_QUERY_MS : QUERY_MS;
    const { vectors } = await active.ask(async (embedder) => {
      const result = await embedder.embed([cutToTokens(isLocal ? query : redactor.text(query), embedder.maxInputTokens)], {
        kind: "query",
        timeoutMs,
        signal: ended.signal,
      });
      const [vector] = result.vectors;
      const known = opened?.vectors;
      if (vector && known && !known.fits(vector))
        throw new AppError("UNAVAILABLE", `${embedder.id} answered with ${vector.length} dimensions, but the index has ${known.dims}`);
      return result;
    });
    const [vector] = vectors;
    if (!vector) throw new AppError("UNAVAILABLE", "the provider answered without a vector");
    return vector;
  }

  /** A question is asked once, also while it is being answered. */
  function questionVector(query: string, key: string): Promise<Float32Array> {
    const name = `${key}\n${query}`;
    const known = questions.get(name);
    if (known) return known;
    const asked = embedQuestion(query);
    questions.set(name, asked);
    if (questions.size > REMEMBERED) questions.delete(questions.keys().next().value ?? "");
    asked.catch(() => questions.delete(name));
    return asked;
  }

  async function find(query: string): Promise<(() => Near | undefined) | undefined> {
    const now = open();
    const { key } = active;
    if (!now || !key || active.isResting) return undefined;
    if (
      (await within(
        now.vectors.load().then(() => true),
        waitMs,
      )) !== true ||
      now !== opened ||
      now.vectors.size === 0
    )
      return undefined;
    const asked = questionVector(query, key.providerKey);
    if (slow && (await within(asked, 0)) === undefined) return undefined;
    const vector = await within(asked, waitMs);
    if (vector === undefined) {
      slowReason = `${key.provider} takes longer than ${waitMs} ms for a question`;
      const mine = asked
        .then(() => (slowReason = undefined))
        .catch(() => undefined)
        .finally(() => (slow = undefined));
      slow = mine;
      return undefined;
    }
    if (isZero(vector)) return undefined;
    return () => (now === opened && now.index === library.open && now.vectors.fits(vector) ? now.vectors.near(vector) : undefined);
  }

  async function probe(): Promise<EmbeddingStatus["probe"]> {
    try {
      const result = await active.ask((embedder) => embedder.embed(["ping"], { kind: "query", timeoutMs: PROBE_MS, signal: ended.signal }));
      return result.vectors.length === 1 ? { ok: true } : { ok: false, error: "no vector came" };
    } catch (error) {
      return { ok: false, error: messageOf(error) };
    }
  }

  return {
    configure(given) {
      if (JSON.stringify(given) === JSON.stringify(settings)) return;
      settings = given;
      void active[Symbol.asyncDispose]();
      active = activeFor(given);
      slowReason = undefined;
      questions.clear();
      close();
    },
    get provider() {
      const { access } = active;
      return access ? { provider: access.id, model: access.model } : {};
    },
    async near(query) {
      try {
        return await find(query);
      } catch {
        return undefined; // The status says why.
      }
    },
    fill() {
      if (ended.signal.aborted || running) return;
      running = fillAll()
        .catch((error: unknown) => {
          if (!ended.signal.aborted) notice(`embeddings are incomplete: ${messageOf(error)}`);
        })
        .finally(() => (running = undefined));
    },
    async filled() {
      while (running) await running;
    },
    async status({ deep }) {
      const probed = deep && active.embedder ? await probe() : undefined;
      const now = open();
      await now?.vectors.load();
      const { access, fallback } = active;
      const { index, passages } = library.open;
      const { vectors, filling } = now ?? {};
      const reason = active.reason ?? slowReason;
      const count = vectors?.size ?? 0;
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
          pending: access ? Math.max(0, passages.count() - count) : 0,
          scan: vectors?.scan ?? "exact",
          ...(vectors?.extensionPath === undefined ? {} : { extensionPath: vectors.extensionPath }),
          ...(vectors?.loadError === undefined ? {} : { loadError: vectors.loadError }),
        },
        batch: {
          enabled: settings.batch.enabled && active.embedder?.batch !== undefined && (filling?.batchFailures ?? 0) < BATCH_FAILURES,
          failures: filling?.batchFailures ?? 0,
          limit: BATCH_FAILURES,
          wait: settings.batch.wait,
          concurrency: settings.batch.concurrency,
          pollIntervalMs: settings.batch.pollIntervalMs,
          timeoutMs: settings.batch.timeoutMinutes * 60_000,
          ...(filling?.batchError === undefined ? {} : { lastError: filling.batchError }),
        },
        cache: {
          enabled: settings.cache.enabled,
          entries: cacheEntries(index),
          ...(settings.cache.maxEntries === undefined ? {} : { maxEntries: settings.cache.maxEntries }),
        },
        custom: {
          searchMode: access && reason === undefined ? (settings.vectorsOnly ? "vector" : "hybrid") : "fts-only",
          ...(reason === undefined ? {} : { providerUnavailableReason: reason }),
        },
        ...(probed ? { probe: probed } : {}),
      };
    },
    async [Symbol.asyncDispose]() {
      ended.abort(new AppError("CANCELLED", "the memory is closed"));
      close();
      await active[Symbol.asyncDispose]();
    },
  };
}

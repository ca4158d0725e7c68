import { AppError, messageOf } from "../../base/errors.ts";
import { createRedactor } from "../../base/redaction.ts";
import type { IndexDatabase } from "../storage/database.ts";
import type { ActiveProvider } from "./active-provider.ts";
import { createCache, forgetOthers, hashOf, type CacheKey, type EmbeddingCache } from "./cache.ts";
import { cutToTokens, groupByTokens } from "./estimate.ts";
import type { Embedded, EmbeddingSettings } from "./types.ts";
import type { Vectors } from "./vectors.ts";

/** Embeds what is indexed and has no vector yet, in the background. */
export interface Filling {
  /** Goes through the index once. Stops when the provider fails; what was answered until then is stored. */
  run(): Promise<void>;
  readonly batchFailures: number;
  readonly batchError: string | undefined;
}

export interface FillingDeps {
  readonly index: IndexDatabase;
  readonly vectors: Vectors;
  readonly active: ActiveProvider;
  readonly key: CacheKey;
  readonly settings: EmbeddingSettings;
  readonly now: () => number;
  readonly notice: (message: string) => void;
  /** The index is still the one in use. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
}

interface Text {
  readonly hash: string;
  readonly text: string;
  /** Passages with this text. */
  readonly ids: readonly number[];
}

const PAGE = 256;
const AT_ONCE = 4;
const GROUP_MS = 120_000;
const LOCAL_GROUP_MS = 600_000;
/** Fewer texts than this are asked for directly: a job takes minutes. */
const LEAST_FOR_BATCH = 64;
const BATCH_TEXTS = 10_000;
export const BATCH_FAILURES = 2;
/** What a provider takes for a batch of what it takes otherwise. */
const BATCH_SHARE: Readonly<Record<string, number>> = { openai: 0.5, gemini: 0.5, voyage: 0.67 };

/** What of a passage is embedded: a part of a note with the headings above it. */
const textOf = ({ about, role, text }: { readonly about: string | null; readonly role: number; readonly text: string }): string =>
  role === 0 && about !== null ? `${about}\n${text}` : text;

const FIND = "SELECT id, about, role, text FROM passages WHERE id > ? AND NOT EXISTS (SELECT 1 FROM vectors WHERE passage = passages.id) ORDER BY id LIMIT ?";

interface Row {
  readonly id: number;
  readonly about: string | null;
  readonly role: number;
  readonly text: string;
}

/** The hashes of all texts that are indexed, a page at a time. */
export async function forgetRemovedTexts(index: IndexDatabase): Promise<void> {
  const hashes = new Set<string>();
  let after = -1;
  for (;;) {
    const rows = index.sql("SELECT id, about, role, text FROM passages WHERE id > ? ORDER BY id LIMIT ?").all(after, PAGE) as unknown as Row[];
    for (const row of rows) hashes.add(hashOf(textOf(row)));
    after = rows.at(-1)?.id ?? after;
    if (rows.length < PAGE) break;
    await new Promise<void>((next) => setImmediate(next));
  }
  index.transaction(() => forgetOthers(index, hashes));
}

class IndexFilling implements Filling {
  readonly #deps: FillingDeps;
  readonly #redactor = createRedactor();
  readonly #isLocal: boolean;
  readonly #cache: EmbeddingCache | undefined;
  batchFailures = 0;
  batchError: string | undefined;

  constructor(deps: FillingDeps) {
    const { key, settings, now } = deps;
    this.#deps = deps;
    this.#isLocal = key.provider === "local";
    this.#cache = settings.cache.enabled ? createCache(key, { maxEntries: settings.cache.maxEntries, now }) : undefined;
  }

  async run(): Promise<void> {
    const { settings, isCurrent, signal } = this.#deps;
    let waiting: Text[] = [];
    const flush = async (): Promise<void> => {
      const texts = waiting;
      waiting = [];
      if (texts.length > 0 && !(await this.#asBatch(texts))) await this.#directly(texts);
    };
    for (let after = -1; isCurrent() && !signal.aborted;) {
      const { last, texts } = this.#page(after);
      if (last === undefined) break;
      after = last;
      waiting.push(...texts);
      const enough = settings.batch.enabled && this.batchFailures < BATCH_FAILURES ? BATCH_TEXTS : 1;
      if (waiting.length >= enough) await flush();
      await new Promise<void>((next) => setImmediate(next));
    }
    if (isCurrent() && !signal.aborted) await flush();
  }

  /** Passages that still have the text which was embedded: a note may have changed while the provider was asked. */
  #unchanged({ ids, hash }: Text): readonly number[] {
    const find = this.#deps.index.sql("SELECT id, about, role, text FROM passages WHERE id = ?");
    return ids.filter((id) => {
      const row = find.get(id) as Row | undefined;
      return row !== undefined && hashOf(textOf(row)) === hash;
    });
  }

  #store(texts: readonly Text[], { vectors: answered }: Embedded, isCached = true): void {
    const { index, vectors, isCurrent } = this.#deps;
    if (!isCurrent()) return;
    index.transaction(() => {
      for (const [at, text] of texts.entries()) {
        const vector = answered[at];
        if (!vector) continue;
        if (isCached) this.#cache?.put(index, text.hash, vector);
        vectors.put(this.#unchanged(text).map((id) => ({ id, vector })));
      }
      this.#cache?.trim(index);
    });
  }

  /** The next passages without a vector, those in the cache already done. */
  #page(after: number): { readonly last: number | undefined; readonly texts: readonly Text[] } {
    const { index, vectors } = this.#deps;
    const rows = index.sql(FIND).all(after, PAGE) as unknown as Row[];
    const found = new Map<string, { readonly hash: string; readonly text: string; readonly ids: number[] }>();
    for (const row of rows) {
      const text = textOf(row);
      const hash = hashOf(text);
      const known = found.get(hash);
      if (known) known.ids.push(row.id);
      else found.set(hash, { hash, text, ids: [row.id] });
    }
    const todo: Text[] = [];
    index.transaction(() => {
      for (const entry of found.values()) {
        const vector = this.#cache?.get(index, entry.hash);
        if (vector && vectors.fits(vector)) vectors.put(entry.ids.map((id) => ({ id, vector })));
        else todo.push(entry);
      }
    });
    return { last: rows.at(-1)?.id, texts: todo };
  }

  /** As it leaves this machine: without anything that looks like a secret, and not longer than the provider takes. */
  #prepared(texts: readonly Text[], most: number): readonly string[] {
    return texts.map(({ text }) => cutToTokens(this.#isLocal ? text : this.#redactor.text(text), most));
  }

  #checked(result: Embedded): Embedded {
    const { vectors, key } = this.#deps;
    const odd = result.vectors.find((vector) => !vectors.fits(vector));
    if (!odd) return result;
    const what = `${key.provider} returned ${odd.length} dimensions, but ${key.model} had ${vectors.dims}`;
    throw new AppError("UNAVAILABLE", `${what}; rebuild the index: openclaw memory index --force`);
  }

  async #direct(texts: readonly Text[]): Promise<void> {
    const { active, signal } = this.#deps;
    const options = { kind: "document", timeoutMs: this.#isLocal ? LOCAL_GROUP_MS : GROUP_MS, signal } as const;
    try {
      const result = await active.ask(async (embedder) => this.#checked(await embedder.embed(this.#prepared(texts, embedder.maxInputTokens), options)));
      this.#store(texts, result);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "INVALID_INPUT") throw error;
      await this.#refused(texts, error);
    }
  }

  /** One of the texts is refused: the others are not. */
  async #refused(texts: readonly Text[], error: AppError): Promise<void> {
    const { active, vectors, key, notice } = this.#deps;
    if (texts.length > 1) {
      const half = texts.length >> 1;
      await this.#direct(texts.slice(0, half));
      await this.#direct(texts.slice(half));
    } else if (active.hasAnswered && vectors.dims !== undefined) {
      notice(`embeddings: ${key.provider} rejects a text, which can be found by its words only: ${error.message}`);
      this.#store(texts, { vectors: [new Float32Array(vectors.dims)], tokens: 0 }, false);
    } else {
      active.failed(error);
      throw error;
    }
  }

  async #directly(texts: readonly Text[]): Promise<void> {
    const groups = groupByTokens(texts, this.#deps.active.embedder?.maxTexts ?? 1);
    const many = this.#isLocal ? 1 : AT_ONCE;
    for (let at = 0; at < groups.length; at += many) {
      const done = await Promise.allSettled(groups.slice(at, at + many).map((group) => this.#direct(group)));
      const failure = done.find((result) => result.status === "rejected");
      if (failure) throw failure.reason;
    }
  }

  /** True when a job did it; false when it is to be asked for directly. */
  async #asBatch(texts: readonly Text[]): Promise<boolean> {
    const { active, settings, key, notice, signal } = this.#deps;
    const { batch, maxInputTokens = 0 } = active.embedder ?? {};
    if (!settings.batch.enabled || this.batchFailures >= BATCH_FAILURES || texts.length < LEAST_FOR_BATCH || !batch) return false;
    try {
      const started = performance.now();
      const result = this.#checked(await batch(this.#prepared(texts, maxInputTokens), { settings: settings.batch, signal }));
      await active.ask(async () => result, BATCH_SHARE[key.provider]);
      this.#store(texts, result);
      notice(`embeddings: a batch of ${texts.length} texts took ${Math.round((performance.now() - started) / 1000)} s`);
      this.batchFailures = 0;
      return true;
    } catch (error) {
      // A failed job is not a failed provider: the same texts are then asked for directly.
      signal.throwIfAborted();
      this.batchFailures += 1;
      this.batchError = messageOf(error);
      notice(
        `embeddings: a batch failed (${this.batchError}); ${this.batchFailures >= BATCH_FAILURES ? "batches are no longer used" : "requested directly instead"}`,
      );
      return false;
    }
  }
}

export const createFilling = (deps: FillingDeps): Filling => new IndexFilling(deps);

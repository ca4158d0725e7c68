import { createHash } from "node:crypto";
import type { IndexDatabase } from "../storage/database.ts";

/** Whose vectors: the first three columns of a cache entry's key. */
export interface CacheKey {
  readonly provider: string;
  readonly model: string;
  readonly providerKey: string;
}

/** Computed vectors by the text they are of: what was paid for is not paid for again. */
export interface EmbeddingCache {
  get(index: IndexDatabase, hash: string): Float32Array | undefined;
  /** Inside a transaction. */
  put(index: IndexDatabase, hash: string, vector: Float32Array): void;
  /** Removes the oldest entries beyond the limit; inside a transaction. */
  trim(index: IndexDatabase): void;
}

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Digits that a vector is written with: more than a 32-bit number has where it matters for a cosine. */
const DIGITS = 7;

function parse(text: unknown): Float32Array | undefined {
  if (typeof text !== "string") return undefined;
  try {
    const values: unknown = JSON.parse(text);
    if (!Array.isArray(values) || values.length === 0 || !values.every((value) => typeof value === "number")) return undefined;
    return Float32Array.from(values);
  } catch {
    return undefined;
  }
}

export function createCache(key: CacheKey, { maxEntries, now }: { readonly maxEntries?: number | undefined; readonly now: () => number }): EmbeddingCache {
  const { provider, model, providerKey } = key;
  return {
    get(index, hash) {
      const row = index
        .sql("SELECT embedding FROM embedding_cache WHERE provider = ? AND model = ? AND provider_key = ? AND hash = ?")
        .get(provider, model, providerKey, hash);
      return parse(row?.["embedding"]);
    },
    put(index, hash, vector) {
      const text = `[${Array.from(vector, (value) => Number(value.toPrecision(DIGITS))).join(",")}]`;
      index
        .sql("INSERT OR REPLACE INTO embedding_cache (provider, model, provider_key, hash, embedding, dims, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)")
        .run(provider, model, providerKey, hash, text, vector.length, now());
    },
    trim(index) {
      if (maxEntries === undefined) return;
      const over = cacheEntries(index) - maxEntries;
      if (over > 0) index.sql("DELETE FROM embedding_cache WHERE rowid IN (SELECT rowid FROM embedding_cache ORDER BY updated_at, rowid LIMIT ?)").run(over);
    },
  };
}

export const cacheEntries = (index: IndexDatabase): number => Number(index.sql("SELECT count(*) AS n FROM embedding_cache").get()?.["n"] ?? 0);

/** Removes vectors of texts that are in the index no more: something of a text can be read from its vector. */
export function forgetOthers(index: IndexDatabase, hashes: ReadonlySet<string>): void {
  const remove = index.sql("DELETE FROM embedding_cache WHERE hash = ?");
  for (const row of index.sql("SELECT DISTINCT hash FROM embedding_cache").all()) if (!hashes.has(String(row["hash"]))) remove.run(String(row["hash"]));
}

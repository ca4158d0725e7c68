import type { IndexDatabase } from "../thread/database.ts";
import type { Near } from "../search/candidates.ts";
import type { CacheKey } from "./cache.ts";
import { best, createMatrix, FLOAT_BYTES, type Cosines, type Found, type Matrix } from "./scan.ts";
import { loadVecExtension, type LoadedExtension } from "./vec-extension.ts";

/** The vectors of one index: a table, and rows in memory to scan. */
export interface Vectors extends Disposable {
  readonly dims: number | undefined;
  readonly size: number;
  readonly scan: "exact" | "int8" | "sqlite-vec";
  readonly extensionPath?: string | undefined;
  readonly loadError?: string | undefined;
  /** Reads the table if that is to be done; in slices. */
  load(): Promise<void>;
  /** Stores vectors of passages; inside a transaction. */
  put(rows: readonly { readonly id: number; readonly vector: Float32Array }[]): void;
  /** A passage is gone. */
  removed(id: number): void;
  /** False when what a provider answered cannot be compared with what is stored. */
  fits(vector: Float32Array): boolean;
  /** What is near a question. */
  near(query: Float32Array): Near;
}

export interface VectorsOptions {
  readonly key: CacheKey;
  readonly chunking: { readonly tokens: number; readonly overlap: number };
  readonly vector: { readonly enabled: boolean; readonly extensionPath?: string | undefined };
  readonly packagesFrom: readonly string[];
  /** Default `FLOAT_BYTES`. */
  readonly floatBytes?: number | undefined;
}

/** As documented, also of indexes that the reference system made. */
const META = "memory_index_meta_v1";
const SLICE = 250;
const SAMPLE = 500;
/** Bytes are compared again with the stored vectors: this many times as many as are wanted. */
const RECHECK = 4;
/** From this many on, a cosine is judged by how it stands out from the others; the scale of cosines differs much between models. */
const ENOUGH = 100;
const USUAL_MEAN = 0.26;
const USUAL_SPREAD = 0.09;

const bytesOf = (vector: Float32Array): Uint8Array => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

/** SQLite's blobs need not be aligned. */
function vectorOf(blob: unknown): Float32Array | undefined {
  if (!(blob instanceof Uint8Array) || blob.byteLength % 4 !== 0 || blob.byteLength === 0) return undefined;
  return new Float32Array(blob.slice().buffer);
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}

/** From a cosine to the scale that the ranking was trained with. */
function scaleOf(values: Iterable<number>, count: number): (cosine: number) => number {
  if (count < ENOUGH) return (cosine) => cosine;
  let [sum, squares] = [0, 0];
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  const mean = sum / count;
  const spread = Math.sqrt(Math.max(1e-8, squares / count - mean * mean));
  return (cosine) => Math.min(1, Math.max(0, USUAL_MEAN + (USUAL_SPREAD * (cosine - mean)) / spread));
}

/** Makes the table that of one provider: vectors of another one are removed. Returns the dimensions that it has. */
function claim(index: IndexDatabase, { key, chunking }: VectorsOptions): number | undefined {
  const { provider, model, providerKey } = key;
  const written = index.sql("SELECT value FROM meta WHERE key = ?").get(META)?.["value"];
  const before =
    typeof written === "string" ? (JSON.parse(written) as { provider?: unknown; model?: unknown; providerKey?: unknown; vectorDims?: unknown }) : undefined;
  if (before && before.provider === provider && before.model === model && before.providerKey === providerKey) {
    return typeof before.vectorDims === "number" ? before.vectorDims : undefined;
  }
  index.transaction(() => {
    index.sql("DELETE FROM vectors").run();
    writeMeta(index, { provider, model, providerKey, chunkTokens: chunking.tokens, chunkOverlap: chunking.overlap });
  });
  return undefined;
}

function writeMeta(index: IndexDatabase, value: object): void {
  index.sql("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)").run(META, JSON.stringify(value));
}

export function openVectors(index: IndexDatabase, options: VectorsOptions): Vectors {
  const { key, chunking, vector: settings, packagesFrom, floatBytes = FLOAT_BYTES } = options;
  let dims = claim(index, options);
  let matrix: Matrix | undefined;
  /** The rows that are being read: what changes in between is changed there, too. */
  let coming: Matrix | undefined;
  /** All rows are left to the extension. */
  let isLeft = false;
  let extension: LoadedExtension | undefined;
  let version: unknown;
  let loading: Promise<void> | undefined;
  const count = (): number => Number(index.sql("SELECT count(*) AS n FROM vectors").get()?.["n"] ?? 0);
  const dataVersion = (): unknown => index.sql("PRAGMA data_version").get()?.["data_version"];
  const stored = (id: number): Float32Array | undefined => vectorOf(index.sql("SELECT vector FROM vectors WHERE passage = ?").get(id)?.["vector"]);

  function loadExtension(): void {
    if (settings.enabled) extension ??= loadVecExtension(index.file, { extensionPath: settings.extensionPath, from: packagesFrom });
  }

  async function read(): Promise<void> {
    version = dataVersion();
    // A library that the configuration names is tried at once, so that its status is known.
    if (settings.extensionPath !== undefined) loadExtension();
    if (dims === undefined) return;
    const rows = count();
    const isLarge = rows * dims * 4 > floatBytes;
    if (isLarge) loadExtension();
    isLeft = isLarge && extension?.kind === "loaded";
    matrix = undefined;
    if (isLeft) return;
    const made = (coming = createMatrix(dims, isLarge ? "int8" : "exact", Math.ceil(rows * 1.1)));
    let after = -1;
    for (;;) {
      const rows = index.sql("SELECT passage, vector FROM vectors WHERE passage > ? ORDER BY passage LIMIT ?").all(after, SLICE);
      for (const row of rows) {
        const vector = vectorOf(row["vector"]);
        after = Number(row["passage"]);
        if (vector?.length === dims) made.set(after, vector);
      }
      if (rows.length < SLICE) break;
      await new Promise<void>((next) => setImmediate(next));
    }
    [matrix, coming] = [made, undefined];
  }

  /** All but the nearest few rows are only looked at as bytes. */
  function exactly(query: Float32Array, rough: readonly Found[], most: number): readonly Found[] {
    const again = rough.flatMap(({ id }) => {
      const vector = stored(id);
      return vector?.length === query.length ? [{ id, value: dot(vector, query) }] : [];
    });
    return again.toSorted((a, b) => b.value - a.value).slice(0, most);
  }

  function sampled(query: Float32Array): readonly number[] {
    const rows = index.sql("SELECT vector FROM vectors ORDER BY passage LIMIT ?").all(SAMPLE);
    return rows.flatMap((row) => {
      const vector = vectorOf(row["vector"]);
      return vector?.length === query.length ? [dot(vector, query)] : [];
    });
  }

  function scanned(held: Matrix, query: Float32Array): Near {
    const cosines: Cosines = held.cosines(query);
    const scale = scaleOf(cosines.values.subarray(0, cosines.count), cosines.count);
    return {
      top(most, isAllowed) {
        const found = held.kind === "exact" ? best(cosines, most, isAllowed) : exactly(query, best(cosines, most * RECHECK, isAllowed), most);
        return new Map(found.map(({ id, value }) => [id, value]));
      },
      cosine: (id) => cosines.of(id),
      scale,
    };
  }

  return {
    get dims() {
      return dims;
    },
    get size() {
      return matrix?.size ?? (dims === undefined ? 0 : count());
    },
    get scan() {
      return isLeft ? "sqlite-vec" : (matrix?.kind ?? "exact");
    },
    get extensionPath() {
      return extension?.kind === "loaded" ? extension.extension.path : extension?.kind === "failed" ? extension.path : undefined;
    },
    get loadError() {
      return extension?.kind === "failed" ? extension.why : undefined;
    },
    load() {
      // Another process writes to the same index.
      if ((matrix || isLeft || dims === undefined) && version !== undefined && version === dataVersion()) return Promise.resolve();
      loading ??= read().finally(() => (loading = undefined));
      return loading;
    },
    put(rows) {
      const [first] = rows;
      if (!first) return;
      if (dims === undefined) {
        dims = first.vector.length;
        writeMeta(index, { ...key, chunkTokens: chunking.tokens, chunkOverlap: chunking.overlap, vectorDims: dims });
        matrix = createMatrix(dims, "exact");
      }
      const insert = index.sql("INSERT OR REPLACE INTO vectors (passage, vector) VALUES (?, ?)");
      for (const { id, vector } of rows) {
        insert.run(id, bytesOf(vector));
        matrix?.set(id, vector);
        coming?.set(id, vector);
      }
      // Too large for floats: it is read again in the other form.
      if (matrix?.kind === "exact" && matrix.size * dims * 4 > floatBytes) matrix = undefined;
    },
    removed(id) {
      matrix?.remove(id);
      coming?.remove(id);
    },
    fits: (vector) => dims === undefined || vector.length === dims,
    near(query) {
      if (extension?.kind === "loaded" && isLeft) {
        const { nearest } = extension.extension;
        const some = sampled(query);
        const cosine = (id: number): number | undefined => {
          const vector = stored(id);
          return vector?.length === query.length ? dot(vector, query) : undefined;
        };
        return {
          top: (most, isAllowed) => new Map(nearest(query, most, isAllowed).map(({ id, value }) => [id, value])),
          cosine,
          scale: scaleOf(some, some.length),
        };
      }
      return scanned(matrix ?? createMatrix(query.length, "exact"), query);
    },
    [Symbol.dispose]() {
      matrix = undefined;
      if (extension?.kind === "loaded") extension.extension[Symbol.dispose]();
    },
  };
}

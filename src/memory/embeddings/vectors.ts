import type { IndexDatabase } from "../storage/database.ts";
import type { Near } from "../search/candidates.ts";
import type { CacheKey } from "./cache.ts";
import { best, createMatrix, FLOAT_BYTES, type Cosines, type Found, type Matrix } from "./scan.ts";
import { loadVecExtension, type LoadedExtension, type VecExtension } from "./vec-extension.ts";

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

class StoredVectors implements Vectors {
  readonly #index: IndexDatabase;
  readonly #options: VectorsOptions;
  readonly #floatBytes: number;
  #dims: number | undefined;
  #matrix: Matrix | undefined;
  /** The rows that are being read: what changes in between is changed there, too. */
  #coming: Matrix | undefined;
  /** All rows are left to the extension. */
  #isLeft = false;
  #extension: LoadedExtension | undefined;
  #version: unknown;
  #loading: Promise<void> | undefined;

  constructor(index: IndexDatabase, options: VectorsOptions) {
    this.#index = index;
    this.#options = options;
    this.#floatBytes = options.floatBytes ?? FLOAT_BYTES;
    this.#dims = claim(index, options);
  }

  get dims(): number | undefined {
    return this.#dims;
  }

  get size(): number {
    return this.#matrix?.size ?? (this.#dims === undefined ? 0 : this.#count());
  }

  get scan(): Vectors["scan"] {
    return this.#isLeft ? "sqlite-vec" : (this.#matrix?.kind ?? "exact");
  }

  get extensionPath(): string | undefined {
    const extension = this.#extension;
    return extension?.kind === "loaded" ? extension.extension.path : extension?.kind === "failed" ? extension.path : undefined;
  }

  get loadError(): string | undefined {
    return this.#extension?.kind === "failed" ? this.#extension.why : undefined;
  }

  load(): Promise<void> {
    const isRead = this.#matrix !== undefined || this.#isLeft || this.#dims === undefined;
    // Another process may write to the same index.
    if (isRead && this.#version !== undefined && this.#version === this.#dataVersion()) return Promise.resolve();
    this.#loading ??= this.#read().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  put(rows: readonly { readonly id: number; readonly vector: Float32Array }[]): void {
    const [first] = rows;
    if (!first) return;
    if (this.#dims === undefined) {
      const { key, chunking } = this.#options;
      this.#dims = first.vector.length;
      writeMeta(this.#index, { ...key, chunkTokens: chunking.tokens, chunkOverlap: chunking.overlap, vectorDims: this.#dims });
      this.#matrix = createMatrix(this.#dims, "exact");
    }
    const insert = this.#index.sql("INSERT OR REPLACE INTO vectors (passage, vector) VALUES (?, ?)");
    for (const { id, vector } of rows) {
      insert.run(id, bytesOf(vector));
      this.#matrix?.set(id, vector);
      this.#coming?.set(id, vector);
    }
    // Too large for floats: it is read again in the other form.
    if (this.#matrix?.kind === "exact" && this.#matrix.size * this.#dims * 4 > this.#floatBytes) this.#matrix = undefined;
  }

  removed(id: number): void {
    this.#matrix?.remove(id);
    this.#coming?.remove(id);
  }

  fits(vector: Float32Array): boolean {
    return this.#dims === undefined || vector.length === this.#dims;
  }

  near(query: Float32Array): Near {
    if (this.#isLeft && this.#extension?.kind === "loaded") return this.#nearByExtension(this.#extension.extension, query);
    const held = this.#matrix ?? createMatrix(query.length, "exact");
    const cosines: Cosines = held.cosines(query);
    return {
      top: (most, isAllowed) => {
        const found = held.kind === "exact" ? best(cosines, most, isAllowed) : this.#exactly(query, best(cosines, most * RECHECK, isAllowed), most);
        return new Map(found.map(({ id, value }) => [id, value]));
      },
      cosine: (id) => cosines.of(id),
      scale: scaleOf(cosines.values.subarray(0, cosines.count), cosines.count),
    };
  }

  [Symbol.dispose](): void {
    this.#matrix = undefined;
    if (this.#extension?.kind === "loaded") this.#extension.extension[Symbol.dispose]();
  }

  #count(): number {
    return Number(this.#index.sql("SELECT count(*) AS n FROM vectors").get()?.["n"] ?? 0);
  }

  #dataVersion(): unknown {
    return this.#index.sql("PRAGMA data_version").get()?.["data_version"];
  }

  /** The cosine with a vector as it is stored. */
  #storedCosine(id: number, query: Float32Array): number | undefined {
    const vector = vectorOf(this.#index.sql("SELECT vector FROM vectors WHERE passage = ?").get(id)?.["vector"]);
    return vector?.length === query.length ? dot(vector, query) : undefined;
  }

  #loadExtension(): void {
    const { vector, packagesFrom } = this.#options;
    if (vector.enabled) this.#extension ??= loadVecExtension(this.#index.file, { extensionPath: vector.extensionPath, from: packagesFrom });
  }

  async #read(): Promise<void> {
    this.#version = this.#dataVersion();
    const dims = this.#dims;
    // A library that the configuration names is tried at once, so that its status is known.
    if (this.#options.vector.extensionPath !== undefined) this.#loadExtension();
    if (dims === undefined) return;
    const rows = this.#count();
    const isLarge = rows * dims * 4 > this.#floatBytes;
    if (isLarge) this.#loadExtension();
    this.#isLeft = isLarge && this.#extension?.kind === "loaded";
    this.#matrix = undefined;
    if (this.#isLeft) return;
    const made = (this.#coming = createMatrix(dims, isLarge ? "int8" : "exact", Math.ceil(rows * 1.1)));
    for (let after = -1; ;) {
      const page = this.#index.sql("SELECT passage, vector FROM vectors WHERE passage > ? ORDER BY passage LIMIT ?").all(after, SLICE);
      for (const row of page) {
        const vector = vectorOf(row["vector"]);
        after = Number(row["passage"]);
        if (vector?.length === dims) made.set(after, vector);
      }
      if (page.length < SLICE) break;
      await new Promise<void>((next) => setImmediate(next));
    }
    [this.#matrix, this.#coming] = [made, undefined];
  }

  /** All but the nearest few rows are only looked at as bytes. */
  #exactly(query: Float32Array, rough: readonly Found[], most: number): readonly Found[] {
    const again = rough.flatMap(({ id }) => {
      const value = this.#storedCosine(id, query);
      return value === undefined ? [] : [{ id, value }];
    });
    return again.toSorted((a, b) => b.value - a.value).slice(0, most);
  }

  #nearByExtension({ nearest }: VecExtension, query: Float32Array): Near {
    const some = this.#index
      .sql("SELECT vector FROM vectors ORDER BY passage LIMIT ?")
      .all(SAMPLE)
      .flatMap((row) => {
        const vector = vectorOf(row["vector"]);
        return vector?.length === query.length ? [dot(vector, query)] : [];
      });
    return {
      top: (most, isAllowed) => new Map(nearest(query, most, isAllowed).map(({ id, value }) => [id, value])),
      cosine: (id) => this.#storedCosine(id, query),
      scale: scaleOf(some, some.length),
    };
  }
}

export const openVectors = (index: IndexDatabase, options: VectorsOptions): Vectors => new StoredVectors(index, options);

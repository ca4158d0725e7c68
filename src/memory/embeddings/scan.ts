/** Rows of vectors in one array, found by the number of their passage. */
export interface Matrix {
  readonly dims: number;
  readonly size: number;
  readonly kind: "exact" | "int8";
  set(id: number, vector: Float32Array): void;
  remove(id: number): void;
  /** Cosines of all rows with a vector of length 1, approximate for `int8`. Valid until the next call. */
  cosines(query: Float32Array): Cosines;
}

/** What a scan found, in the order of the rows. */
export interface Cosines {
  readonly ids: Float64Array;
  readonly values: Float32Array;
  readonly count: number;
  of(id: number): number | undefined;
}

/**
 * Floats take 4 bytes a dimension: 1536 dimensions of 20,000 passages are 123 MB. Beyond this size rows are kept as bytes, a quarter of that, and the
 * best ones are compared again with what is stored.
 * Measured on one core of a busy machine, Node 26, best of some: 20,000 × 768 floats 12 ms, as bytes with the second comparison 31 ms, sqlite-vec over
 * the table 142 to 204 ms; 100,000 × 1536 floats 126 ms, as bytes 175 ms. Bytes are never faster to scan, so it is memory that decides.
 */
export const FLOAT_BYTES = 128 * 1024 * 1024;

function dotFloats(rows: Float32Array, at: number, query: Float32Array, dims: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const whole = dims - (dims % 4);
  for (let i = 0; i < whole; i += 4) {
    a += (rows[at + i] as number) * (query[i] as number);
    b += (rows[at + i + 1] as number) * (query[i + 1] as number);
    c += (rows[at + i + 2] as number) * (query[i + 2] as number);
    d += (rows[at + i + 3] as number) * (query[i + 3] as number);
  }
  for (let i = whole; i < dims; i += 1) a += (rows[at + i] as number) * (query[i] as number);
  return a + b + c + d;
}

function dotBytes(rows: Int8Array, at: number, query: Float32Array, dims: number): number {
  let [a, b] = [0, 0];
  const whole = dims - (dims % 2);
  for (let i = 0; i < whole; i += 2) {
    a += (rows[at + i] as number) * (query[i] as number);
    b += (rows[at + i + 1] as number) * (query[i + 1] as number);
  }
  if (whole < dims) a += (rows[at + whole] as number) * (query[whole] as number);
  return a + b;
}

export function createMatrix(dims: number, kind: Matrix["kind"], capacity = 256): Matrix {
  const make = (rows: number): Float32Array | Int8Array => (kind === "exact" ? new Float32Array(rows * dims) : new Int8Array(rows * dims));
  let capacityNow = Math.max(16, capacity);
  let rows = make(capacityNow);
  /** Of bytes: what 127 stands for in each row. */
  let scales = new Float32Array(capacityNow);
  let ids = new Float64Array(capacityNow);
  let values = new Float32Array(capacityNow);
  let size = 0;
  const at = new Map<number, number>();

  function grow(): void {
    capacityNow = Math.ceil(capacityNow * 1.5);
    const [larger, largerIds, largerScales] = [make(capacityNow), new Float64Array(capacityNow), new Float32Array(capacityNow)];
    larger.set(rows);
    largerIds.set(ids);
    largerScales.set(scales);
    [rows, ids, scales, values] = [larger, largerIds, largerScales, new Float32Array(capacityNow)];
  }

  return {
    dims,
    kind,
    get size() {
      return size;
    },
    set(id, vector) {
      let row = at.get(id);
      if (row === undefined) {
        if (size === capacityNow) grow();
        row = size;
        size += 1;
        at.set(id, row);
        ids[row] = id;
      }
      if (kind === "exact") return rows.set(vector, row * dims);
      let most = 0;
      for (const value of vector) most = Math.max(most, Math.abs(value));
      const scale = most / 127;
      scales[row] = scale;
      for (let i = 0; i < dims; i += 1) rows[row * dims + i] = scale === 0 ? 0 : Math.round((vector[i] as number) / scale);
    },
    remove(id) {
      const row = at.get(id);
      if (row === undefined) return;
      size -= 1;
      const moved = ids[size] as number;
      rows.copyWithin(row * dims, size * dims, (size + 1) * dims);
      scales[row] = scales[size] as number;
      ids[row] = moved;
      at.set(moved, row);
      at.delete(id);
    },
    cosines(query) {
      if (rows instanceof Float32Array) for (let row = 0; row < size; row += 1) values[row] = dotFloats(rows, row * dims, query, dims);
      else for (let row = 0; row < size; row += 1) values[row] = dotBytes(rows, row * dims, query, dims) * (scales[row] as number);
      const of = (id: number): number | undefined => {
        const row = at.get(id);
        return row === undefined ? undefined : values[row];
      };
      return { ids, values, count: size, of };
    },
  };
}

/** A passage with its cosine. */
export interface Found {
  readonly id: number;
  readonly value: number;
}

/** The rows with the highest values among those allowed, best first. */
export function best({ ids, values, count }: Cosines, most: number, isAllowed: (id: number) => boolean): readonly Found[] {
  const found: Found[] = [];
  for (let row = 0; row < count; row += 1) {
    const value = values[row] as number;
    const least = found.at(-1);
    if (found.length === most && least && value <= least.value) continue;
    const id = ids[row] as number;
    if (!isAllowed(id)) continue;
    let [low, high] = [0, found.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((found[middle]?.value ?? 0) >= value) low = middle + 1;
      else high = middle;
    }
    found.splice(low, 0, { id, value });
    if (found.length > most) found.pop();
  }
  return found;
}

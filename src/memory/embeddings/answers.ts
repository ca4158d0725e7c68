import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";

interface Row {
  readonly index: number;
  readonly embedding: unknown;
}

/** The vectors of an answer in OpenAI's form, in the order of the texts. */
export function rowsOf(value: unknown): { readonly vectors: readonly unknown[]; readonly tokens: number | undefined } {
  const data = isRecord(value) && Array.isArray(value["data"]) ? value["data"] : [];
  const rows = data.map((row, at): Row => ({
    index: isRecord(row) && typeof row["index"] === "number" ? row["index"] : at,
    embedding: isRecord(row) ? row["embedding"] : undefined,
  }));
  const usage = isRecord(value) && isRecord(value["usage"]) ? value["usage"] : {};
  const tokens = usage["total_tokens"] ?? usage["prompt_tokens"];
  return { vectors: rows.toSorted((a, b) => a.index - b.index).map(({ embedding }) => embedding), tokens: typeof tokens === "number" ? tokens : undefined };
}

/** Vectors of one length, made of numbers. Throws `UNAVAILABLE` for anything else that a provider may answer. */
export function checkVectors(who: string, values: readonly unknown[], count: number): readonly Float32Array[] {
  if (values.length !== count) throw new AppError("UNAVAILABLE", `${who} returned ${values.length} vectors for ${count} texts`);
  const [first] = values;
  const dims = Array.isArray(first) || first instanceof Float32Array ? first.length : 0;
  return values.map((value) => {
    if (!(Array.isArray(value) || value instanceof Float32Array) || value.length === 0) throw new AppError("UNAVAILABLE", `${who} returned no vector`);
    if (value.length !== dims) throw new AppError("UNAVAILABLE", `${who} returned vectors of ${dims} and of ${value.length} dimensions in one request`);
    const vector = new Float32Array(dims);
    for (let at = 0; at < dims; at += 1) {
      const number: unknown = value[at];
      if (typeof number !== "number" || !Number.isFinite(number))
        throw new AppError("UNAVAILABLE", `${who} returned a vector with values that are not numbers`);
      vector[at] = number;
    }
    return normalised(vector);
  });
}

/** Of length 1, so that a product is a cosine. A zero vector stays what it is: it is near nothing. */
function normalised(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum === 0) return vector;
  const scale = 1 / Math.sqrt(sum);
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) * scale;
  return vector;
}

export const isZero = (vector: Float32Array): boolean => vector.every((value) => value === 0);

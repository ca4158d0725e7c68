import { AppError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Fetch } from "../transport/index.ts";

/** A model as a server lists it. */
export interface ListedModel {
  readonly id: string;
  readonly contextWindow?: number;
  /** Who the server says it belongs to; servers put their own name there. */
  readonly owner?: string;
}

export interface ListingRequest {
  readonly kind: "openai" | "ollama";
  /** As models are called at: with `/v1` for servers that resemble OpenAI's. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
}

/** A list of models is short; more than this is something else. */
const MAX_BYTES = 4 * 1024 * 1024;

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
const textAt = (value: Record<string, unknown>, key: string): string | undefined =>
  typeof value[key] === "string" && value[key] !== "" ? value[key] : undefined;

function parseTags(body: unknown): readonly ListedModel[] | undefined {
  if (!isRecord(body) || !Array.isArray(body["models"])) return undefined;
  return body["models"].filter(isRecord).flatMap((model) => {
    const id = textAt(model, "name") ?? textAt(model, "model");
    return id === undefined ? [] : [{ id }];
  });
}

function parseModels(body: unknown): readonly ListedModel[] | undefined {
  if (!isRecord(body) || !Array.isArray(body["data"])) return undefined;
  return body["data"].filter(isRecord).flatMap((model) => {
    const id = textAt(model, "id");
    const window = model["max_model_len"] ?? model["max_context_length"] ?? model["context_length"];
    const owner = textAt(model, "owned_by");
    if (id === undefined) return [];
    return [{ id, ...(typeof window === "number" && window > 0 ? { contextWindow: window } : {}), ...(owner === undefined ? {} : { owner }) }];
  });
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new AppError("OVERLOADED", `the answer is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Asks a server which models it has. Throws `UNAVAILABLE` when it is not there, takes too long or answers something else. */
export async function listModels({
  kind,
  baseUrl,
  apiKey,
  timeoutMs,
  clock,
  signal,
  fetch = globalThis.fetch,
}: ListingRequest): Promise<readonly ListedModel[]> {
  const root = baseUrl.replace(/\/+$/, "");
  const url = kind === "ollama" ? `${root.replace(/\/v1$/, "")}/api/tags` : `${root}/models`;
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal?.addEventListener("abort", stop, { once: true });
  using _timer = clock.after(timeoutMs, () => controller.abort(new AppError("TIMEOUT", `no answer within ${timeoutMs} ms`)));
  try {
    const headers = { accept: "application/json", ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) };
    const response = await fetch(url, { headers, signal: controller.signal, redirect: "error" });
    if (!response.ok) {
      await response.body?.cancel();
      throw new AppError("UNAVAILABLE", `it answers ${response.status}`);
    }
    const body: unknown = JSON.parse(await readBounded(response));
    const models = kind === "ollama" ? parseTags(body) : parseModels(body);
    if (!models) throw new AppError("UNAVAILABLE", "its answer is no list of models");
    return models;
  } catch (error) {
    const cause = controller.signal.aborted && controller.signal.reason instanceof AppError ? controller.signal.reason : error;
    throw new AppError("UNAVAILABLE", `${url} cannot be asked for its models: ${messageOf(cause)}`, { cause: error, details: { url } });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

import { AppError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Fetch } from "../transport/index.ts";
import { isRecord } from "../../base/records.ts";

/** A model as a server lists it. */
export interface ListedModel {
  readonly id: string;
  readonly name?: string;
  readonly contextWindow?: number;
  readonly maxTokens?: number;
  readonly reasoning?: boolean;
  readonly images?: boolean;
  /** US dollars per million tokens. */
  readonly cost?: { readonly input: number; readonly output: number };
  /** The owner that the server states; servers put their own name there. */
  readonly owner?: string;
}

export interface ListingRequest {
  readonly kind: "openai" | "ollama";
  /** As used for calls: with `/v1` for OpenAI-compatible servers. */
  readonly baseUrl: string;
  readonly apiKey?: string | undefined;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
  /** Version of this program, for servers on other machines. */
  readonly version?: string | undefined;
}

/** A list of models is short; anything larger is something else. */
const MAX_BYTES = 4 * 1024 * 1024;

const textAt = (value: Record<string, unknown>, key: string): string | undefined =>
  typeof value[key] === "string" && value[key] !== "" ? value[key] : undefined;

function parseTags(body: unknown): readonly ListedModel[] | undefined {
  if (!isRecord(body) || !Array.isArray(body["models"])) return undefined;
  return body["models"].filter(isRecord).flatMap((model) => {
    const id = textAt(model, "name") ?? textAt(model, "model");
    return id === undefined ? [] : [{ id }];
  });
}

const positive = (value: unknown): number | undefined => (typeof value === "number" && value > 0 ? value : undefined);
const record = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});

/** The price per token: Venice states one, for Hugging Face the most expensive backend counts, since any may serve the request. */
function costIn(spec: Record<string, unknown>, backends: unknown): ListedModel["cost"] {
  const own = record(spec["pricing"]);
  const dearest = (name: "input" | "output"): number | undefined => {
    const prices = Array.isArray(backends) ? backends.flatMap((backend) => positive(record(record(backend)["pricing"])[name]) ?? []) : [];
    return positive(record(own[name])["usd"]) ?? (prices.length > 0 ? Math.max(...prices) : undefined);
  };
  const [input, output] = [dearest("input"), dearest("output")];
  return input === undefined || output === undefined ? undefined : { input, output };
}

/** Facts beyond OpenAI's list: Venice in `model_spec`, Hugging Face by backend and modality. */
function hostFacts(model: Record<string, unknown>): Omit<ListedModel, "id" | "owner"> {
  const spec = record(model["model_spec"]);
  const abilities = record(spec["capabilities"]);
  const backends = Array.isArray(model["providers"]) ? model["providers"].flatMap((backend) => positive(record(backend)["context_length"]) ?? []) : [];
  const inputs = record(model["architecture"])["input_modalities"];
  const window =
    positive(model["max_model_len"]) ??
    positive(model["max_context_length"]) ??
    positive(model["context_length"]) ??
    positive(spec["availableContextTokens"]) ??
    // Any backend may serve the request: only what all of them support is reliable.
    (backends.length > 0 ? Math.min(...backends) : undefined);
  const output = positive(spec["maxCompletionTokens"]);
  const cost = costIn(spec, model["providers"]);
  const name = textAt(spec, "name");
  const reasoning = abilities["supportsReasoning"];
  const sees = typeof abilities["supportsVision"] === "boolean" ? abilities["supportsVision"] : Array.isArray(inputs) ? inputs.includes("image") : undefined;
  return {
    ...(name === undefined ? {} : { name }),
    ...(window === undefined ? {} : { contextWindow: window }),
    ...(output === undefined ? {} : { maxTokens: output }),
    ...(typeof reasoning === "boolean" ? { reasoning } : {}),
    ...(sees === undefined ? {} : { images: sees }),
    ...(cost === undefined ? {} : { cost }),
  };
}

function parseModels(body: unknown): readonly ListedModel[] | undefined {
  if (!isRecord(body) || !Array.isArray(body["data"])) return undefined;
  return body["data"].filter(isRecord).flatMap((model) => {
    const id = textAt(model, "id");
    const owner = textAt(model, "owned_by");
    // Venice also lists voice and image models.
    if (id === undefined || (typeof model["type"] === "string" && !["text", "model"].includes(model["type"]))) return [];
    return [{ id, ...hostFacts(model), ...(owner === undefined ? {} : { owner }) }];
  });
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_BYTES) throw new AppError("OVERLOADED", `the response is larger than ${MAX_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

/** Requests a server's list of models. Throws `UNAVAILABLE` when it cannot be reached, takes too long or answers something else. */
export async function listModels({
  kind,
  baseUrl,
  apiKey,
  timeoutMs,
  clock,
  signal,
  fetch = globalThis.fetch,
  version,
}: ListingRequest): Promise<readonly ListedModel[]> {
  const root = baseUrl.replace(/\/+$/, "");
  const url = kind === "ollama" ? `${root.replace(/\/v1$/, "")}/api/tags` : `${root}/models`;
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal?.addEventListener("abort", stop, { once: true });
  using _timer = clock.after(timeoutMs, () => controller.abort(new AppError("TIMEOUT", `no response within ${timeoutMs} ms`)));
  try {
    const agent = version === undefined ? {} : { "user-agent": `openclaw/${version}` };
    const headers = { accept: "application/json", ...agent, ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) };
    const response = await fetch(url, { headers, signal: controller.signal, redirect: "error" });
    if (!response.ok) {
      await response.body?.cancel();
      throw new AppError("UNAVAILABLE", `it responded with status ${response.status}`);
    }
    const body: unknown = JSON.parse(await readBounded(response));
    const models = kind === "ollama" ? parseTags(body) : parseModels(body);
    if (!models) throw new AppError("UNAVAILABLE", "its response is not a list of models");
    return models;
  } catch (error) {
    const cause = controller.signal.aborted && controller.signal.reason instanceof AppError ? controller.signal.reason : error;
    throw new AppError("UNAVAILABLE", `could not get the models of ${url}: ${messageOf(cause)}`, { cause: error, details: { url } });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

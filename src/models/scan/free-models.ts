import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Fetch } from "../transport/index.ts";
import { isRecord } from "../../base/records.ts";

/** A free model, as OpenRouter lists it. */
export interface FreeModel {
  readonly id: string;
  readonly name: string;
  readonly contextLength: number;
  readonly maxTokens: number | undefined;
  /** Billions of parameters, according to its name. */
  readonly params: number | undefined;
  /** Milliseconds since the epoch. */
  readonly createdAt: number | undefined;
  readonly takesImages: boolean;
  readonly takesTools: boolean;
}

export interface ScanFilter {
  /** Billions of parameters; models of unknown size are excluded. */
  readonly minParams?: number | undefined;
  readonly maxAgeDays?: number | undefined;
  /** Prefix of the id: `meta-llama`. */
  readonly maker?: string | undefined;
}

const DAY_MS = 86_400_000;
const MAX_BYTES = 16 * 1024 * 1024;
const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const positive = (value: unknown): number | undefined => (typeof value === "number" && value > 0 ? value : undefined);

/** `llama-3.3-70b` → 70; of several numbers the largest; `8x7b` → 56. */
export function paramsOf(text: string): number | undefined {
  const found = [...text.matchAll(/(?:^|[^a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z0-9])/gi)].map(
    ([, experts = "1", size]) => Number(experts) * Number(size),
  );
  return found.length === 0 ? undefined : Math.max(...found);
}

function isFree(id: string, pricing: unknown): boolean {
  if (id.endsWith(":free")) return true;
  return isRecord(pricing) && Number(pricing["prompt"]) === 0 && Number(pricing["completion"]) === 0;
}

/** `text+image->text`. */
const takesImagesByWord = (modality: unknown): boolean => typeof modality === "string" && /image.*->/.test(modality);

function parseModel(value: unknown): FreeModel | undefined {
  if (!isRecord(value) || typeof value["id"] !== "string" || !isFree(value["id"], value["pricing"])) return undefined;
  const { id } = value;
  const name = typeof value["name"] === "string" ? value["name"] : id;
  const architecture = isRecord(value["architecture"]) ? value["architecture"] : {};
  const top = isRecord(value["top_provider"]) ? value["top_provider"] : {};
  const created = positive(value["created"]);
  return {
    id,
    name,
    contextLength: positive(value["context_length"]) ?? 0,
    maxTokens: positive(value["max_completion_tokens"]) ?? positive(top["max_completion_tokens"]),
    params: paramsOf(`${id} ${name}`),
    createdAt: created === undefined ? undefined : created * 1000,
    takesImages: list(architecture["input_modalities"]).includes("image") || takesImagesByWord(architecture["modality"]),
    takesTools: list(value["supported_parameters"]).includes("tools"),
  };
}

/** The free models that match the filter. `baseUrl` is that of the API. Throws `UNAVAILABLE`. */
export async function listFreeModels(options: {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly filter?: ScanFilter;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
}): Promise<readonly FreeModel[]> {
  const { baseUrl, timeoutMs, clock, filter = {}, signal, fetch = globalThis.fetch } = options;
  const url = `${baseUrl.replace(/\/+$/, "")}/models`;
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  signal?.addEventListener("abort", stop, { once: true });
  using _timer = clock.after(timeoutMs, () => controller.abort(new AppError("TIMEOUT", `no response within ${timeoutMs} ms`)));
  try {
    const response = await fetch(url, { headers: { accept: "application/json" }, signal: controller.signal, redirect: "error" });
    const text = await response.text();
    if (!response.ok || text.length > MAX_BYTES)
      throw new AppError("UNAVAILABLE", response.ok ? "the response is too large" : `it responded with status ${response.status}`);
    const body: unknown = JSON.parse(text);
    if (!isRecord(body) || !Array.isArray(body["data"])) throw new AppError("UNAVAILABLE", "its response is not a list of models");
    return body["data"].flatMap((value) => parseModel(value) ?? []).filter((model) => fits(model, filter, clock.now()));
  } catch (error) {
    const cause = controller.signal.reason instanceof AppError ? controller.signal.reason : error;
    throw new AppError("UNAVAILABLE", `could not get the model list at ${url}: ${messageOf(cause)}`, { cause: error, details: { url } });
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

function fits(model: FreeModel, { minParams, maxAgeDays, maker }: ScanFilter, now: number): boolean {
  if (minParams !== undefined && (model.params ?? 0) < minParams) return false;
  if (maxAgeDays !== undefined && (model.createdAt === undefined || now - model.createdAt > maxAgeDays * DAY_MS)) return false;
  return maker === undefined || model.id.toLowerCase().startsWith(`${maker.trim().toLowerCase()}/`);
}

/** A model and the results of its probes. */
export interface Scanned extends FreeModel {
  readonly tool?: { readonly ok: boolean; readonly latencyMs: number; readonly error?: string };
  readonly image?: { readonly ok: boolean; readonly latencyMs: number; readonly error?: string };
}

/** Best first: sees images, calls tools quickly, has a large window, has many parameters. */
export function rankScanned(models: readonly Scanned[]): readonly Scanned[] {
  const sees = (model: Scanned): number => Number(model.image ? model.image.ok : model.takesImages);
  const wait = (model: Scanned): number => (model.tool?.ok ? model.tool.latencyMs : Number.MAX_SAFE_INTEGER);
  return [...models].sort(
    (a, b) => sees(b) - sees(a) || wait(a) - wait(b) || b.contextLength - a.contextLength || (b.params ?? 0) - (a.params ?? 0) || (a.id < b.id ? -1 : 1),
  );
}

import type { Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { ImageContent, TextContent, ToolSchema } from "../../protocol/index.ts";
import { createDrivers } from "../call/driver.ts";
import type { ModelEntry } from "../entry.ts";
import { classify, troubleOf, type Trouble } from "../failover/classify.ts";
import { failureOf } from "../failure.ts";
import { loadLongTail, type LongTailDeps } from "../long-tail/index.ts";
import type { Fetch } from "../transport/index.ts";

export type ProbeStatus = "ok" | "auth" | "rate_limit" | "billing" | "timeout" | "format" | "unknown";

export interface ProbeResult {
  readonly status: ProbeStatus;
  readonly latencyMs: number;
  /** The model called the offered tool. */
  readonly calledTool: boolean;
  /** What went wrong, where the status is too coarse. */
  readonly trouble?: Trouble | "cannot be reached";
  /** The provider's message; the caller masks secrets in it. */
  readonly error?: string;
}

export interface ProbeOptions {
  readonly model: ModelEntry;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The question; a default one when absent. */
  readonly content?: string | readonly (TextContent | ImageContent)[] | undefined;
  readonly tools?: readonly ToolSchema[] | undefined;
  readonly timeoutMs: number;
  readonly maxTokens: number;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
  readonly longTail: LongTailDeps;
}

const STATUSES: Readonly<Partial<Record<ReturnType<typeof classify>, ProbeStatus>>> = {
  auth: "auth",
  rate_limit: "rate_limit",
  overloaded: "rate_limit",
  billing: "billing",
  timeout: "timeout",
  network: "timeout",
  format: "format",
  model_unknown: "format",
};

/** Sends one short request. Never rejects: every outcome is a result. */
export async function probeModel(options: ProbeOptions): Promise<ProbeResult> {
  const { model, apiKey, headers, content = "Reply with OK.", tools, timeoutMs, maxTokens, clock, fetch } = options;
  const started = clock.monotonic();
  const drivers = createDrivers({ other: (api) => loadLongTail(api, options.longTail), version: options.longTail.version, ...(fetch ? { fetch } : {}) });
  const request = {
    model,
    messages: [{ role: "user" as const, content, timestamp: clock.now() }],
    thinking: "off" as const,
    maxTokens,
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(headers ? { headers } : {}),
    ...(tools ? { tools } : {}),
  };
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  if (options.signal?.aborted) stop();
  options.signal?.addEventListener("abort", stop, { once: true });
  let late = false;
  using _timer = clock.after(timeoutMs, () => {
    late = true;
    stop();
  });
  let calledTool = false;
  const since = (): number => Math.round(clock.monotonic() - started);
  try {
    const limits = { clock, signal: controller.signal, headersMs: timeoutMs, progressMs: timeoutMs };
    for await (const event of drivers.stream(request, new Map(), limits)) calledTool ||= event.type === "toolCall";
    return { status: "ok", latencyMs: since(), calledTool };
  } catch (error) {
    if (late) return { status: "timeout", latencyMs: since(), calledTool, error: `no response within ${timeoutMs} ms` };
    const failure = failureOf(error);
    const kind = failure ? classify(failure) : "unknown";
    const trouble = kind === "network" ? "cannot be reached" : failure && troubleOf(failure, kind);
    const status = STATUSES[kind] ?? "unknown";
    return { status, latencyMs: since(), calledTool, ...(trouble === undefined ? {} : { trouble }), error: messageOf(error) };
  } finally {
    options.signal?.removeEventListener("abort", stop);
  }
}

/** Runs `work` over all items, at most `limit` at a time; results are in the order of the items. */
export async function inParallel<T, R>(items: readonly T[], limit: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(limit, items.length)) }, worker));
  return results;
}

/** Small things that plugins share. */
import { AppError } from "../../../base/errors.ts";
import type { HostConfig, ReplyToMode } from "../../../protocol/index.ts";
import { createDedupeCache } from "./dedupe.ts";
import { readNumberParam, type NumberParamOptions } from "../params.ts";

/** The value, where it must be there. */
export function expectDefined<T>(value: T | null | undefined, what = "a value"): T {
  if (value === null || value === undefined) throw new AppError("INTERNAL", `${what} is missing`);
  return value;
}

/** Drops the oldest entries of a map down to a size. */
export function pruneMapToMaxSize<K, V>(map: Map<K, V>, maxSize: number): void {
  for (const key of map.keys()) {
    if (map.size <= maxSize) return;
    map.delete(key);
  }
}

export const bufferToBlobPart = (buffer: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);

/** A promise with its handles. */
export const createDeferred = <T>(): PromiseWithResolvers<T> => Promise.withResolvers<T>();

/** One value per key for all instances of a module in the process. */
export function resolveGlobalSingleton<T>(key: symbol, create: () => T): T {
  const place = globalThis as unknown as Record<symbol, T | undefined>;
  return (place[key] ??= create());
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00A0",
  copy: "©",
  reg: "®",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
};

/** `&lt;` → `<`, once: what comes out is not decoded again. */
export function decodeHtmlEntities(text: string): string {
  return text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? ENTITIES[name.toLowerCase()] ?? whole;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff) ? String.fromCodePoint(code) : whole;
  });
}

/** A part of a text, never half a character at its ends. */
export function sliceUtf16Safe(text: string, start: number, end: number = text.length): string {
  const from = start < 0 ? Math.max(0, text.length + start) : start;
  const to = end < 0 ? text.length + end : end;
  return text.slice(
    /[\uDC00-\uDFFF]/.test(text[from] ?? "") && from > 0 ? from + 1 : from,
    /[\uD800-\uDBFF]/.test(text[to - 1] ?? "") && to < text.length ? to - 1 : to,
  );
}

export const createStaticReplyToModeResolver = (mode: ReplyToMode) => (): ReplyToMode => mode;
export const isSingleUseReplyToMode = (mode: string): boolean => mode === "first" || mode === "batched";

/** Names instead of ids on allow lists, which anybody can take: only where the operator said so. */
export const isDangerousNameMatchingEnabled = (config?: { readonly dangerouslyAllowNameMatching?: unknown } | null): boolean =>
  config?.dangerouslyAllowNameMatching === true;

export const isNormalizedSenderAllowed = (params: {
  readonly senderId: string;
  readonly allowFrom: readonly (string | number)[];
  readonly stripPrefixRe?: RegExp | undefined;
}): boolean => {
  const normal = (value: string | number): string => {
    const text = String(value).trim();
    return (params.stripPrefixRe ? text.replace(params.stripPrefixRe, "") : text).toLowerCase();
  };
  const entries = params.allowFrom.map(normal);
  return entries.includes("*") || entries.includes(normal(params.senderId));
};

/** Inputs through a lookup, one after the other. */
export async function mapAllowlistResolutionInputs<R>(params: { readonly inputs: readonly string[]; mapInput(input: string): Promise<R> | R }): Promise<R[]> {
  const results: R[] = [];
  for (const input of params.inputs) results.push(await params.mapInput(input));
  return results;
}

/** A whole number above zero. */
export function readPositiveIntegerParam(params: Record<string, unknown>, key: string, options: NumberParamOptions = {}): number | undefined {
  const number = readNumberParam(params, key, options);
  if (number === undefined || (Number.isSafeInteger(number) && number > 0)) return number;
  throw new AppError("INVALID_INPUT", `${options.label ?? key} must be a whole number above 0`);
}

/** The caller may not use this tool, or not in this way. */
export class ToolAuthorizationError extends Error {
  override readonly name = "ToolAuthorizationError";
}

/** Keeps a passive account's HTTP server running until it is aborted. */
export async function keepHttpServerTaskAlive(params: {
  readonly server: { once(event: "close", listener: () => void): unknown };
  readonly abortSignal?: AbortSignal | undefined;
  onAbort?(): Promise<void> | void;
}): Promise<void> {
  const closed = new Promise<void>((resolve) => void params.server.once("close", resolve));
  const { abortSignal: signal } = params;
  const aborted = new Promise<void>((resolve) => {
    if (signal?.aborted) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });
  await Promise.race([closed, aborted]);
  if (signal?.aborted) await params.onAbort?.();
}

/** Keys that were seen, as far as this process knows. */
export const createPersistentDedupeCache = (options: {
  readonly ttlMs: number;
  readonly maxSize?: number | undefined;
  readonly memoryMaxSize?: number | undefined;
}): ReturnType<typeof createDedupeCache> => createDedupeCache({ ttlMs: options.ttlMs, maxSize: options.maxSize ?? options.memoryMaxSize ?? 10_000 });

/** Gives the configuration that an account was started with. */
export const createRuntimeConfigReader = (cfg: HostConfig) => (): HostConfig => cfg;

/** Nothing is known of who made the request that a route or method answers. */
export const getPluginRuntimeGatewayRequestScope = (): undefined => undefined;
/** Hooks are dispatched by the host alone. */
export const getGlobalHookRunner = (): null => null;

/** Moves a file of an older version out of the way. */
export async function archiveLegacyStateSource(
  params: { readonly filePath?: string | undefined; readonly path?: string | undefined; readonly suffix?: string | undefined } | string,
): Promise<string | undefined> {
  const { rename } = await import("node:fs/promises");
  const path = typeof params === "string" ? params : (params.filePath ?? params.path);
  if (!path) return undefined;
  const target = `${path}${typeof params === "string" ? ".migrated" : (params.suffix ?? ".migrated")}`;
  await rename(path, target);
  return target;
}

/** A secret in a schema of the plugin's own; the host finds secrets by their keys. */
export const registerSensitiveConfigSchema = <S>(schema: S): S => schema;
export const defineChannelAliasMigration = <M>(migration: M): M => migration;
/** Reports failures of a plugin's state. */
export const createPluginStateErrorReporter =
  (params: { log?(line: string): void; label?: string } = {}) =>
  (error: unknown): void =>
    params.log?.(`${params.label ?? "plugin state"}: ${error instanceof Error ? error.message : String(error)}`);

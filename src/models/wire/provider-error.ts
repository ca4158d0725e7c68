import { isRecord } from "../../base/records.ts";
import { modelFailed, type ModelFailure } from "../failure.ts";

/** Facts from an error body, in any provider's format. */
export interface ErrorFacts {
  /** The provider's message, from the innermost error. */
  readonly text: string;
  /** The code that names the error best. */
  readonly code?: string;
  /** All codes, most specific first. */
  readonly codes: readonly string[];
  /** The HTTP status in the body. */
  readonly status?: number;
  /** Retry time from fields of the body; texts are parsed elsewhere. */
  readonly retryAfterMs?: number;
  /** An HTML page. */
  readonly html?: boolean;
  /** It was JSON with an error in it. */
  readonly structured?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

interface Found {
  readonly texts: string[];
  readonly codes: string[];
  status: number | undefined;
  retryAfterMs: number | undefined;
}

const MAX_DEPTH = 6;

/** Parses an error body. Total: plain text and HTML pages give facts, too. `now` is for fields with a point in time. */
export function errorFacts(body: string, now = 0): ErrorFacts {
  const trimmed = body.trim();
  if (/^<(?:!doctype|html|head|\?xml|center)/i.test(trimmed)) return pageFacts(trimmed);
  const value = parsed(trimmed);
  if (value === undefined) return { text: trimmed, codes: [] };
  const found: Found = { texts: [], codes: [], status: undefined, retryAfterMs: undefined };
  collect(value, found, { depth: 0, now });
  const codes = [...new Set(found.codes)];
  return {
    text: found.texts[0] ?? trimmed,
    codes,
    structured: true,
    ...(codes[0] === undefined ? {} : { code: codes[0] }),
    ...(found.status === undefined ? {} : { status: found.status }),
    ...(found.retryAfterMs === undefined ? {} : { retryAfterMs: found.retryAfterMs }),
  };
}

/** Only the title of a page is used; two kinds of pages are recognized by their marks. */
function pageFacts(page: string): ErrorFacts {
  const title = /<title[^>]*>([^<]*)<\/title>/i.exec(page)?.[1]?.replaceAll(/\s+/g, " ").trim();
  const codes = [
    ...(/challenges\.cloudflare\.com|cf-browser-verification|just a moment\.\.\./i.test(page) ? ["html_bot_check"] : []),
    ...(/sorry, you have been blocked/i.test(page) ? ["html_blocked"] : []),
  ];
  return { text: title ? `a web page instead of a response: ${title}` : "a web page instead of a response", codes, html: true };
}

/** Objects, arrays and strings that contain JSON. */
function parsed(text: string): unknown {
  if (!/^[{["]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const asRecord = (value: unknown): Json | undefined => (isRecord(value) ? value : undefined);
const textIn = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : typeof value === "number" ? String(value) : undefined;

interface At {
  readonly depth: number;
  readonly now: number;
}

/** Inner errors first: wrappers only repeat or hide them. */
function collect(value: unknown, found: Found, at: At): void {
  if (at.depth > MAX_DEPTH) return;
  const next = { ...at, depth: at.depth + 1 };
  if (typeof value === "string") {
    const inner = parsed(value.trim());
    if (inner === undefined || typeof inner === "string") found.texts.push(value);
    else collect(inner, found, next);
    return;
  }
  if (Array.isArray(value)) return value.slice(0, 5).forEach((each) => collect(each, found, next));
  const record = asRecord(value);
  if (!record) return;
  wrapped(record, found, next);
  codesOf(record, found, at);
  times(record, found, at.now);
  const { message, detail } = record;
  if (typeof message === "string") collect(message, found, next);
  else if (typeof message === "object") collect(message, found, next);
  if (typeof detail === "string") found.texts.push(detail);
  else if (Array.isArray(detail)) found.texts.push(...detail.flatMap((each) => textIn(asRecord(each)?.["msg"]) ?? []));
}

/** Where providers and gateways put the error that they pass on. */
function wrapped(record: Json, found: Found, next: At): void {
  const metadata = asRecord(record["metadata"]);
  if (metadata) {
    if (metadata["raw"] !== undefined) collect(metadata["raw"], found, next);
    for (const key of ["limit_source", "error_type"]) push(found.codes, metadata[key]);
    // OpenRouter's moderation lists its reasons; nothing else distinguishes it from a rejected key.
    if (Array.isArray(metadata["reasons"])) found.codes.push("moderation");
    resetHeader(asRecord(metadata["headers"]), found, next.now);
  }
  for (const key of ["error", "response", "innererror", "base_resp"]) if (record[key] !== undefined && record[key] !== null) collect(record[key], found, next);
  details(record["details"], found);
}

function resetHeader(headers: Json | undefined, found: Found, now: number): void {
  const at = Number(headers?.["X-RateLimit-Reset"] ?? headers?.["x-ratelimit-reset"] ?? Number.NaN);
  if (Number.isFinite(at) && at > now) found.retryAfterMs ??= at - now;
}

/** Google's list of details, and Anthropic's single one. */
function details(value: unknown, found: Found): void {
  push(found.codes, asRecord(value)?.["error_code"]);
  if (!Array.isArray(value)) return;
  for (const each of value.map(asRecord)) {
    if (!each) continue;
    push(found.codes, each["reason"]);
    for (const violation of Array.isArray(each["violations"]) ? each["violations"] : []) push(found.codes, asRecord(violation)?.["quotaId"]);
    const delay = typeof each["retryDelay"] === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(each["retryDelay"])?.[1] : undefined;
    if (delay !== undefined) found.retryAfterMs = Math.ceil(Number(delay) * 1000);
  }
}

const push = (codes: string[], value: unknown): void => {
  const text = textIn(value);
  if (text !== undefined && text.length <= 200) codes.push(text);
};

/** Codes of one object. Numbers mean different things at different providers: they carry its name. */
function codesOf(record: Json, found: Found, { depth }: At): void {
  const { code, type, status, error_type: errorType, status_code: statusCode, error_code: errorCode } = record;
  if (record["status_msg"] !== undefined) {
    if (Number(statusCode) !== 0) push(found.codes, `minimax:${textIn(statusCode)}`);
    if (typeof record["status_msg"] === "string") found.texts.push(record["status_msg"]);
    return;
  }
  const http = [code, statusCode, status].map(Number).find((number) => Number.isInteger(number) && number >= 400 && number < 600);
  if (http !== undefined) found.status ??= http;
  const number = typeof code === "number" || typeof code === "string" ? String(code) : "";
  if (/^[13]\d{3}$/.test(number)) push(found.codes, record["object"] === "error" ? `mistral:${number}` : `zai:${number}`);
  else if (http === undefined || Number(code) !== http) push(found.codes, code);
  push(found.codes, errorCode);
  push(found.codes, errorType);
  push(found.codes, record["__type"]);
  // The outermost type of an event only says that it is an error.
  if (!(depth === 0 && (type === "error" || type === "response.failed")) && record["object"] !== "response") push(found.codes, type);
  if (typeof status === "string" && /^[A-Z_]+$/.test(status)) push(found.codes, status);
}

function times(record: Json, found: Found, now: number): void {
  const inSeconds = Number(record["resets_in_seconds"] ?? record["estimated_time"] ?? Number.NaN);
  if (Number.isFinite(inSeconds) && inSeconds >= 0) found.retryAfterMs ??= Math.ceil(inSeconds * 1000);
  const at = Number(record["resets_at"] ?? Number.NaN);
  if (Number.isFinite(at) && at * 1000 > now) found.retryAfterMs ??= at * 1000 - now;
}

const MAX_TEXT_CHARS = 4_000;

/** What the facts of an error add to a failed call, besides its text. */
export function failureFacts({ code, codes, html, structured }: ErrorFacts, retryAfterMs: number | undefined): Partial<ModelFailure> {
  return {
    ...(code === undefined ? {} : { code }),
    ...(codes.length === 0 ? {} : { codes }),
    ...(html ? { html } : {}),
    ...(structured ? { structured } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

/** An error inside a stream that started well. `statusOf` is for providers whose codes stand for statuses. */
export function streamFailure(data: string, now: number, statusOf: Readonly<Record<string, number>> = {}): Error {
  const facts = errorFacts(data, now);
  const status = facts.status ?? facts.codes.map((code) => statusOf[code]).find((known) => known !== undefined);
  return modelFailed({
    phase: "stream",
    ...failureFacts(facts, retryHint(undefined, facts, now)),
    text: facts.text.slice(0, MAX_TEXT_CHARS),
    ...(status === undefined ? {} : { status }),
  });
}

/** Headers of an answer; those of `fetch` are such. */
export interface AnswerHeaders {
  get(name: string): string | null;
}

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * 60_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: SECOND_MS, m: MINUTE_MS, h: 60 * 60 * SECOND_MS, d: DAY_MS };

/** When the provider may be called again, in milliseconds from `now`: from its headers, the fields of its answer, or its message. */
export function retryHint(headers: AnswerHeaders | undefined, facts: Pick<ErrorFacts, "text" | "codes" | "retryAfterMs">, now: number): number | undefined {
  const stated = (headers && (fromHeaders(headers, now) ?? windowReset(headers, now))) ?? facts.retryAfterMs ?? fromText(facts.text, now);
  // A daily limit is not over in half a minute, whatever the answer suggests.
  const daily = dayEnd(facts, now);
  return daily === undefined || (stated !== undefined && stated > 10 * 60 * SECOND_MS) ? stated : daily;
}

/** `retry-after-ms`, and `retry-after` in seconds or as a date. */
function fromHeaders(headers: AnswerHeaders, now: number): number | undefined {
  const exact = numberOf(headers.get("retry-after-ms"));
  if (exact !== undefined) return exact;
  const value = headers.get("retry-after");
  if (value === null) return undefined;
  const seconds = numberOf(value);
  if (seconds !== undefined) return seconds * SECOND_MS;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Subscription windows: Anthropic's when it is used up, and Codex's. */
function windowReset(headers: AnswerHeaders, now: number): number | undefined {
  const spent = headers.get("anthropic-ratelimit-unified-status") === "rejected";
  const reset = spent ? numberOf(headers.get("anthropic-ratelimit-unified-reset")) : undefined;
  if (reset !== undefined) return Math.max(0, reset * SECOND_MS - now);
  const seconds = numberOf(headers.get("x-codex-primary-reset-after-seconds"));
  return seconds === undefined ? undefined : seconds * SECOND_MS;
}

function numberOf(value: string | null): number | undefined {
  if (value === null || value.trim() === "") return undefined;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? number : undefined;
}

const DURATION =
  /(?:try again in|retry (?:after|in)|reset(?:s)? (?:after|in)|try again after)\s+((?:\d+(?:\.\d+)?\s*(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)\b[\s,]*)+)/i;
const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)/gi;

/** Durations and points in time in providers' messages. */
function fromText(text: string, now: number): number | undefined {
  const spoken = DURATION.exec(spaced(text))?.[1];
  if (spoken !== undefined) {
    let ms = 0;
    for (const [, number, unit = ""] of spoken.matchAll(PART)) ms += Number(number) * (UNITS[unitOf(unit)] ?? 0);
    return Math.ceil(ms);
  }
  const at =
    /resets? at (\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/i.exec(text)?.[1] ??
    // Z.ai states no time zone; its times are Beijing's.
    /reset at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)/i.exec(text)?.[1]?.replace(/ (.*)$/, "T$1+08:00") ??
    /regain access on (\d{4}-\d\d-\d\d at \d\d:\d\d) UTC/i.exec(text)?.[1]?.replace(" at ", "T").concat(":00Z");
  const time = at === undefined ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? undefined : Math.max(0, time - now);
}

/** `21h53m56s` as `21h 53m 56s`. */
const spaced = (text: string): string => text.replaceAll(/(\d(?:ms|h|m|s))(?=\d)/g, "$1 ");

function unitOf(word: string): string {
  const lower = word.toLowerCase();
  return lower === "ms" || lower.startsWith("milli") ? "ms" : lower.charAt(0);
}

const DAILY = /tokens per day|requests per day|per[- ]day\b|\(tpd\)|\(rpd\)|daily (?:limit|quota)/i;

/** The end of the day for a daily limit: Google's days end at midnight in California, others' at midnight UTC. */
function dayEnd({ text, codes }: Pick<ErrorFacts, "text" | "codes">, now: number): number | undefined {
  if (codes.some((code) => /PerDay/.test(code))) return DAY_MS - (Math.max(0, now - pacificOffset(now)) % DAY_MS);
  return DAILY.test(text) ? DAY_MS - (now % DAY_MS) : undefined;
}

/** How far California is behind UTC. */
function pacificOffset(now: number): number {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: "America/Los_Angeles", dateStyle: "short", timeStyle: "medium" });
  return Math.round((now - Date.parse(`${format.format(now).replace(" ", "T")}Z`)) / MINUTE_MS) * MINUTE_MS;
}

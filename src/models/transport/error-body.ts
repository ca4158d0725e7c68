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
  return { text: title ? `a web page instead of an answer: ${title}` : "a web page instead of an answer", codes, html: true };
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

const asRecord = (value: unknown): Json | undefined => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : undefined);
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

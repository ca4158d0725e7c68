/** Calls of the Bot API for one token. */
import { createRequire } from "node:module";
import type { InputFile, RawApi } from "grammy";
import type * as Grammy from "grammy/web";
import {
  asChannelError,
  ChannelError,
  createPauses,
  createTransport,
  fieldsOf,
  jsonOf,
  textOf,
  type Transport,
  type TransportOptions,
  type TransportRequest,
  wholeOf,
} from "openclaw/plugin-sdk/channel-kit";
import { noAnswer, refusal } from "./failure.ts";

export const API_ROOT = "https://api.telegram.org";

type Method = keyof RawApi;
type Arguments<M extends Method> = Parameters<RawApi[M]> extends [signal?: unknown] ? object : NonNullable<Parameters<RawApi[M]>[0]>;
/** Keys without a value may be there. */
type Loose<T> = T extends object ? { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] } : T;
type Answer<M extends Method> = Awaited<ReturnType<RawApi[M]>>;

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export interface ClientOptions extends TransportOptions {
  readonly token: string;
  /** Where the Bot API is. */
  readonly apiRoot?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Instead of real connections. */
  readonly transport?: Transport | undefined;
  /** Milliseconds. Default: the clock of the machine. */
  readonly now?: (() => number) | undefined;
}

export interface TelegramClient {
  /** The part of the token before the colon. */
  readonly botId: number | undefined;
  call<M extends Method>(method: M, payload: Loose<Arguments<M>>, options?: CallOptions): Promise<Answer<M>>;
  /** Bytes to be uploaded. */
  upload(data: Uint8Array, name: string): InputFile;
  /** A file that `getFile` named. */
  download(path: string, maxBytes: number, signal?: AbortSignal): Promise<{ data: Buffer; mimeType: string | undefined }>;
  close(): void;
}

const TIMEOUT_MS = 60_000;
/** Uploads take as long as the line is slow. */
const UPLOAD_TIMEOUT_MS = 300_000;
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
const UPLOADS: ReadonlySet<string> = new Set([
  "sendPhoto",
  "sendVideo",
  "sendAnimation",
  "sendAudio",
  "sendVoice",
  "sendDocument",
  "sendVideoNote",
  "sendMediaGroup",
]);

/** `file_path` is the server's word: nothing in it leaves the bot's folder. */
function filePath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== "." && part !== "..");
  return parts.map((part) => encodeURIComponent(part)).join("/");
}

type Library = Pick<typeof Grammy, "Api" | "GrammyError" | "HttpError" | "InputFile">;

/**
 * grammY in its portable build, which takes 3 MB where the build for Node, with an HTTP client of its own, takes 21. It looks once whether there is a
 * `localStorage`, and Node prints a warning at that: for that moment there is none.
 */
function loadLibrary(): Library {
  const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
  if (before?.configurable !== true) return createRequire(import.meta.url)("grammy/web") as Library;
  Object.defineProperty(globalThis, "localStorage", { value: undefined, configurable: true, writable: true });
  try {
    return createRequire(import.meta.url)("grammy/web") as Library;
  } finally {
    Object.defineProperty(globalThis, "localStorage", before);
  }
}

/** What people see as a message, new or changed. */
const POSTS = /^(?:send|edit|copy|forward|stop(?:Poll|MessageLiveLocation))/;
/** Telegram limits them on their own; they wait for the chat like all others. */
const ACTION = "sendChatAction";

/** How long Telegram asked to wait before a chat gets anything more. It holds for the whole chat, not only for the request that got the 429. */
function createPatience(now: () => number) {
  const pauses = createPauses(now);

  /** The chat that a request posts to. No chat has the number 0: it stands where nothing shall be sent. */
  function chatOf(method: string, payload: object): string | undefined {
    if (!POSTS.test(method) || !("chat_id" in payload)) return undefined;
    const { chat_id: id } = payload;
    return (typeof id === "number" && id !== 0) || typeof id === "string" ? String(id) : undefined;
  }

  return {
    /** Throws the refusal that a request would only meet again. */
    check(method: string, payload: object): void {
      const chat = chatOf(method, payload);
      const left = chat === undefined ? 0 : pauses.left(chat);
      if (left <= 0) return;
      throw new ChannelError(`Telegram rate limit in this chat: ${method} waits ${Math.ceil(left / 1000)} s`, {
        action: method,
        status: 429,
        delivery: { state: "retry", retryAfterMs: left },
        code: "TELEGRAM_429",
      });
    },
    /** A request was refused. */
    learn(method: string, payload: object, failure: ChannelError): void {
      const ms = failure.status === 429 ? failure.delivery.retryAfterMs : undefined;
      const chat = method === ACTION ? undefined : chatOf(method, payload);
      if (ms !== undefined && chat !== undefined) pauses.set(chat, ms);
    },
  };
}

/** What went wrong, from whatever grammY threw. */
function failureOf(error: unknown, method: string, library: Library, clean: (text: string) => string): ChannelError {
  if (error instanceof library.GrammyError) {
    return refusal(method, error.error_code, clean(error.description), fieldsOf(error.parameters) ?? {});
  }
  const inner = error instanceof library.HttpError ? error.error : error;
  return asChannelError(inner) ?? noAnswer(method, inner, clean(inner instanceof Error ? inner.message : "unknown error"));
}

export function createClient(options: ClientOptions): TelegramClient {
  const { token } = options;
  const root = (options.apiRoot ?? API_ROOT).replace(/\/+$/, "");
  const transport = options.transport ?? createTransport(options);
  const clean = (text: string): string => text.replaceAll(token, "<token>");
  const patience = createPatience(options.now ?? Date.now);
  let loaded: { readonly library: Library; readonly raw: RawApi } | undefined;

  /** Answers from anything but the Bot API (a proxy's error page) are recognized by their status. */
  async function request(url: string, init: TransportRequest): Promise<{ json(): Promise<unknown> }> {
    const method = url.slice(url.lastIndexOf("/") + 1);
    const answer = await transport.request(url, init);
    const text = (await answer.bytes(MAX_ANSWER_BYTES)).toString("utf8");
    return {
      async json() {
        const value = jsonOf(text);
        if (typeof fieldsOf(value)?.["ok"] === "boolean") return value;
        throw refusal(method, answer.status >= 400 ? answer.status : 502, "the response is not from the Bot API");
      },
    };
  }

  function load(): NonNullable<typeof loaded> {
    const library = loadLibrary();
    // Times are bounded below, by call.
    const api = new library.Api(token, { apiRoot: root, timeoutSeconds: 86_400, fetch: request as never });
    return { library, raw: api.raw };
  }

  return {
    botId: wholeOf(Number(/^(\d+):/.exec(token)?.[1])),
    async call(method, payload, { signal, timeoutMs } = {}) {
      patience.check(method, payload);
      const { library, raw } = (loaded ??= load());
      const bound = timeoutMs ?? Math.max(options.timeoutMs ?? TIMEOUT_MS, UPLOADS.has(method) ? UPLOAD_TIMEOUT_MS : 0);
      const timeout = AbortSignal.timeout(Math.ceil(bound));
      const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
      try {
        const ask = (raw as unknown as Record<string, (payload: object, signal: AbortSignal) => Promise<unknown>>)[method]!;
        const args = Object.keys(payload).length === 0 && ["getMe", "getWebhookInfo"].includes(method) ? [either] : [payload, either];
        return (await (ask as (...args: unknown[]) => Promise<unknown>)(...args)) as never;
      } catch (error) {
        const failure = failureOf(error, method, library, clean);
        patience.learn(method, payload, failure);
        throw failure;
      }
    },
    upload: (data, name) => new (loaded ??= load()).library.InputFile(data, name),
    async download(path, maxBytes, signal) {
      try {
        const answer = await transport.request(`${root}/file/bot${token}/${filePath(path)}`, signal ? { signal } : {});
        if (answer.status !== 200) throw refusal("download", answer.status, "the file does not exist");
        return { data: await answer.bytes(maxBytes), mimeType: textOf(answer.headers["content-type"]) };
      } catch (error) {
        throw failureOf(error, "download", (loaded ??= load()).library, clean);
      }
    },
    close: () => transport.close(),
  };
}

/** One WebSocket connection to a platform: bounded, watched for silence, closed with the code of your choice. */
import { type RawData, WebSocket } from "ws";
import { loadHttp, loadHttps } from "../../../base/builtin.ts";
import { notSent, unsure } from "./failure.ts";
import { jsonOf } from "./fields.ts";

export interface SocketOptions {
  /** For people: "Mattermost". */
  readonly platform: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON as it came. What is no JSON goes to `onGarbage`. */
  onMessage(message: unknown): void;
  readonly onGarbage?: ((text: string) => void) | undefined;
  /** Any frame, ping or pong. */
  readonly onAlive?: (() => void) | undefined;
  readonly signal: AbortSignal;
  /** Default 15 s. */
  readonly connectMs?: number | undefined;
  /** After this long without a frame the connection is pinged, and after as long again it is given up. Default 30 s. */
  readonly silenceMs?: number | undefined;
  /** Default 16 MiB. */
  readonly maxFrameBytes?: number | undefined;
  /** `http://user:secret@host:port`. */
  readonly proxy?: string | undefined;
  /** The code sent when the signal fires. Default 1000. */
  readonly stopCode?: number | undefined;
}

export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
  /** Why we ended it, or why it could not be opened. */
  readonly error: Error | undefined;
}

export interface Socket {
  /** Rejects where it could not be opened; `ended` resolves as well then. */
  readonly opened: Promise<void>;
  /** Never rejects. */
  readonly ended: Promise<SocketEnd>;
  /** Resolves when the frame has left this process. */
  send(message: unknown): Promise<void>;
  close(code?: number, why?: Error): void;
  /** Stops and resumes reading. */
  flow(isOpen: boolean): void;
}

const CONNECT_MS = 15_000;
const SILENCE_MS = 30_000;
const MAX_FRAME_BYTES = 16 * 1024 * 1024;
/** How long a peer has to answer a close frame. */
const CLOSE_MS = 2000;

/** Addresses of sockets may contain tickets: none is in an error. */
function plain(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return typeof code === "string" ? code : String(message ?? error).replaceAll(/\b(?:wss?|https?):\/\/\S+/g, "the address");
}

/** Calls `ping` after one span of silence and `lost` after two. */
function watchSilence(ms: number, ping: () => void, lost: () => void) {
  let timer: NodeJS.Timeout | undefined;
  let isPinged = false;
  const wait = (): void => {
    timer = setTimeout(() => {
      if (isPinged) return lost();
      isPinged = true;
      ping();
      wait();
    }, ms);
    timer.unref();
  };
  return {
    heard(): void {
      isPinged = false;
      clearTimeout(timer);
      wait();
    },
    stop: (): void => clearTimeout(timer),
  };
}

function proxyAgent(url: string, proxy: string) {
  const settings = { proxyEnv: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy } };
  return url.startsWith("wss:") ? new (loadHttps().Agent)(settings) : new (loadHttp().Agent)(settings);
}

export function openSocket(options: SocketOptions): Socket {
  const { platform, signal, silenceMs = SILENCE_MS } = options;
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<SocketEnd>();
  opened.promise.catch(() => {});
  let error: Error | undefined;
  const ws = new WebSocket(options.url, {
    headers: options.headers,
    handshakeTimeout: options.connectMs ?? CONNECT_MS,
    maxPayload: options.maxFrameBytes ?? MAX_FRAME_BYTES,
    perMessageDeflate: false,
    ...(options.proxy === undefined ? {} : { agent: proxyAgent(options.url, options.proxy) }),
  });

  function close(code = 1000, why?: Error): void {
    error ??= why;
    if (ws.readyState === WebSocket.CONNECTING || ws.readyState === WebSocket.CLOSED) return ws.terminate();
    ws.close(code);
    setTimeout(() => ws.terminate(), CLOSE_MS).unref();
  }
  const stop = (): void => close(options.stopCode ?? 1000);
  const watch = watchSilence(
    silenceMs,
    () => ws.ping(),
    () => {
      // Nobody is there to answer a close frame.
      error ??= unsure("receive", `nothing was heard from ${platform} for ${Math.round((2 * silenceMs) / 1000)} s`);
      ws.terminate();
    },
  );
  function heard(): void {
    watch.heard();
    options.onAlive?.();
  }

  ws.on("open", () => {
    heard();
    opened.resolve();
  });
  ws.on("ping", heard);
  ws.on("pong", heard);
  ws.on("message", (data: RawData) => {
    heard();
    const text = (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString("utf8");
    const message = jsonOf(text);
    if (message === undefined) options.onGarbage?.(text);
    else options.onMessage(message);
  });
  ws.on("unexpected-response", (_request, response) => {
    error ??= notSent("connect", `${platform} refused the connection: ${response.statusCode ?? 0}`);
    response.destroy();
    ws.terminate();
  });
  ws.on("error", (thrown) => {
    error ??= notSent("connect", `the connection to ${platform} broke: ${plain(thrown)}`);
  });
  ws.on("close", (code, reason) => {
    watch.stop();
    signal.removeEventListener("abort", stop);
    const end: SocketEnd = { code, reason: reason.toString("utf8"), error };
    opened.reject(error ?? notSent("connect", `${platform} closed the connection: ${code} ${end.reason}`.trim()));
    ended.resolve(end);
  });
  if (signal.aborted) stop();
  else signal.addEventListener("abort", stop, { once: true });

  return {
    opened: opened.promise,
    ended: ended.promise,
    close,
    send: (message) =>
      new Promise((resolve, reject) => {
        if (ws.readyState !== WebSocket.OPEN) return reject(notSent("send", `there is no connection to ${platform}`));
        ws.send(JSON.stringify(message), (failed) => (failed ? reject(unsure("send", `the connection to ${platform} broke: ${plain(failed)}`)) : resolve()));
      }),
    flow(isOpen) {
      if (isOpen) ws.resume();
      else ws.pause();
    },
  };
}

/** One WebSocket connection to a platform: bounded, watched for silence, closed with the code of your choice. */
import type { RawData, WebSocket } from "ws";
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
/** `WebSocket.OPEN`. */
const OPEN = 1;
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

/** The library: only channels that open a socket load it. */
async function loadClient(): Promise<(options: SocketOptions) => WebSocket> {
  const { WebSocket: Client } = await import("ws");
  return ({ url, headers, connectMs = CONNECT_MS, maxFrameBytes = MAX_FRAME_BYTES, proxy }) =>
    new Client(url, {
      headers,
      handshakeTimeout: connectMs,
      maxPayload: maxFrameBytes,
      perMessageDeflate: false,
      ...(proxy === undefined ? {} : { agent: proxyAgent(url, proxy) }),
    });
}

const textOf = (data: RawData): string => (Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer)).toString("utf8");

interface Live {
  ws: WebSocket | undefined;
  /** Why it ends, where that is known before its end. */
  error: Error | undefined;
  isOver: boolean;
  isFlowing: boolean;
}

interface Ends {
  heard(): void;
  opened(): void;
  over(code: number, reason: string): void;
}

function attach(ws: WebSocket, live: Live, { platform, onMessage, onGarbage }: SocketOptions, { heard, opened, over }: Ends): void {
  live.ws = ws;
  ws.on("open", () => {
    if (!live.isFlowing) ws.pause();
    heard();
    opened();
  });
  ws.on("ping", heard);
  ws.on("pong", heard);
  ws.on("message", (data: RawData) => {
    heard();
    const text = textOf(data);
    const message = jsonOf(text);
    if (message === undefined) onGarbage?.(text);
    else onMessage(message);
  });
  ws.on("unexpected-response", (_request, response) => {
    live.error ??= notSent("connect", `${platform} refused the connection: ${response.statusCode ?? 0}`);
    response.destroy();
    ws.terminate();
  });
  ws.on("error", (thrown) => {
    live.error ??= notSent("connect", `the connection to ${platform} broke: ${plain(thrown)}`);
  });
  ws.on("close", (code, reason) => over(code, reason.toString("utf8")));
}

/** Never throws: what is wrong with an address or the network ends it. */
export function openSocket(options: SocketOptions): Socket {
  const { platform, signal, silenceMs = SILENCE_MS } = options;
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<SocketEnd>();
  opened.promise.catch(() => {});
  const live: Live = { ws: undefined, error: undefined, isOver: false, isFlowing: true };

  function over(code: number, reason: string): void {
    live.isOver = true;
    watch.stop();
    signal.removeEventListener("abort", stop);
    opened.reject(live.error ?? notSent("connect", `${platform} closed the connection: ${code} ${reason}`.trim()));
    ended.resolve({ code, reason, error: live.error });
  }
  function close(code = 1000, why?: Error): void {
    const { ws } = live;
    live.error ??= why;
    if (live.isOver) return;
    if (!ws) return over(code, "");
    if (ws.readyState === ws.CONNECTING) return ws.terminate();
    ws.close(code);
    setTimeout(() => ws.terminate(), CLOSE_MS).unref();
  }
  const stop = (): void => close(options.stopCode);
  const watch = watchSilence(
    silenceMs,
    () => live.ws?.ping(),
    () => {
      // Nobody is there to answer a close frame.
      live.error ??= unsure("receive", `nothing was received from ${platform} for ${Math.round((2 * silenceMs) / 1000)} s`);
      live.ws?.terminate();
    },
  );
  function heard(): void {
    watch.heard();
    options.onAlive?.();
  }

  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  void loadClient().then((connect) => {
    if (live.isOver) return;
    try {
      attach(connect(options), live, options, { heard, opened: () => opened.resolve(), over });
    } catch (thrown) {
      close(1006, notSent("connect", `could not connect to ${platform}: ${plain(thrown)}`));
    }
  });

  return {
    opened: opened.promise,
    ended: ended.promise,
    close,
    send: (message) =>
      new Promise((resolve, reject) => {
        const { ws } = live;
        if (ws?.readyState !== OPEN) return reject(notSent("send", `there is no connection to ${platform}`));
        ws.send(JSON.stringify(message), (failed) => (failed ? reject(unsure("send", `the connection to ${platform} broke: ${plain(failed)}`)) : resolve()));
      }),
    flow(isOpen) {
      live.isFlowing = isOpen;
      if (isOpen) {
        live.ws?.resume();
        if (live.ws?.readyState === OPEN) watch.heard();
      } else {
        // Nothing is heard because nobody listens.
        live.ws?.pause();
        watch.stop();
      }
    },
  };
}

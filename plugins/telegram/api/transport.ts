/** HTTP to the Bot API: knows how far a request got, goes through a proxy, and reads answers within bounds. */
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import type { TransportFailure } from "./failure.ts";

export interface TransportOptions {
  /** `http://user:secret@host:port`. */
  readonly proxy?: string;
  readonly autoSelectFamily?: boolean;
}

export interface TransportRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array> | null;
  readonly signal?: AbortSignal;
}

export interface TransportAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The whole body; rejects beyond the limit. */
  bytes(maxBytes: number): Promise<Buffer>;
}

export interface Transport {
  request(url: string, init: TransportRequest): Promise<TransportAnswer>;
  close(): void;
}

/** Unused connections are given up before Telegram closes them: a request on a closing one has an unknown end. */
const IDLE_MS = 4000;

class TransportError extends Error implements TransportFailure {
  override readonly name = "TransportError";
  readonly sent: boolean;
  readonly code: string | undefined;

  constructor(message: string, sent: boolean, code?: string) {
    super(message);
    this.sent = sent;
    this.code = code;
  }
}

/** Codes and the plain words of an error. Messages of the network layer may contain the URL, and with it the token. */
function described(error: unknown): { readonly words: string; readonly code: string | undefined } {
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = (inner as { code?: unknown } | undefined)?.code;
  const name = inner instanceof Error ? inner.name : "error";
  return typeof code === "string" ? { words: code, code } : { words: name, code: undefined };
}

async function bytesOf(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new TransportError(`the answer is larger than ${maxBytes} bytes`, true, "TOO_LARGE");
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TransportError) throw error;
    const { words, code } = described(error);
    throw new TransportError(`the connection broke while the answer came (${words})`, true, code);
  }
  return Buffer.concat(chunks);
}

export function createTransport(options: TransportOptions = {}): Transport {
  const proxyEnv = options.proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: options.proxy, HTTPS_PROXY: options.proxy } };
  const family = options.autoSelectFamily === undefined ? {} : { autoSelectFamily: options.autoSelectFamily };
  const settings = { keepAlive: true, timeout: IDLE_MS, ...family, ...proxyEnv };
  const agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) };

  function send(url: string, init: TransportRequest): Promise<TransportAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<TransportAnswer>();
    const secure = url.startsWith("https:");
    const size = typeof init.body === "string" ? { "content-length": String(Buffer.byteLength(init.body)) } : {};
    const ask = secure ? httpsRequest : httpRequest;
    const request = ask(url, { method: init.method ?? "GET", headers: { ...init.headers, ...size }, agent: secure ? agents.https : agents.http });
    let sent = false;
    request.on("socket", (socket) => {
      // A connection that was used before is open: from here on bytes leave.
      if (!socket.connecting) sent = true;
      else socket.once(secure ? "secureConnect" : "connect", () => (sent = true));
    });
    const abort = (): void => void request.destroy(new TransportError("the request was given up", sent, "ABORTED"));
    request.on("response", (answer) => {
      // What is read later may be given up as well.
      answer.once("close", () => init.signal?.removeEventListener("abort", abort));
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: (maxBytes) => bytesOf(answer, maxBytes) });
    });
    request.on("error", (error) => {
      init.signal?.removeEventListener("abort", abort);
      if (error instanceof TransportError) return reject(error);
      const { words, code } = described(error);
      reject(new TransportError(sent ? `the connection broke (${words})` : `no connection (${words})`, sent, code));
    });
    if (init.signal?.aborted === true) abort();
    else init.signal?.addEventListener("abort", abort);
    if (typeof init.body === "object" && init.body !== null) {
      Readable.from(init.body, { objectMode: false })
        .on("error", (error) => request.destroy(error))
        .pipe(request);
    } else request.end(init.body ?? undefined);
    return promise;
  }

  return {
    request: send,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

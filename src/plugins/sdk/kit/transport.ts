/** HTTP that knows how far a request got, goes through a proxy, and reads answers within bounds. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { loadHttp, loadHttps } from "../../../base/builtin.ts";

export interface TransportOptions {
  /** `http://user:secret@host:port`. */
  readonly proxy?: string | undefined;
  readonly autoSelectFamily?: boolean | undefined;
}

export interface TransportRequest {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array> | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface TransportAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The whole body; rejects beyond the limit. */
  bytes(maxBytes: number): Promise<Buffer>;
  /** The body as it comes, without an end in sight. */
  stream(): AsyncIterable<Buffer>;
}

export interface Transport {
  request(url: string, init: TransportRequest): Promise<TransportAnswer>;
  close(): void;
}

/** Unused connections are given up before servers close them: a request on a closing one has an unknown end. */
const IDLE_MS = 4000;

/** `sent`: bytes of the request may have arrived. Its message has no address in it, which may contain a token. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly sent: boolean;
  readonly code: string | undefined;

  constructor(message: string, sent: boolean, code?: string) {
    super(message);
    this.sent = sent;
    this.code = code;
  }
}

/** The code of an error, else its name. */
function codeOf(error: unknown): { readonly text: string; readonly code: string | undefined } {
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const code = (inner as { code?: unknown } | undefined)?.code;
  const name = inner instanceof Error ? inner.name : "error";
  return typeof code === "string" ? { text: code, code } : { text: name, code: undefined };
}

async function bytesOf(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) throw new TransportError(`the response is larger than ${maxBytes} bytes`, true, "TOO_LARGE");
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof TransportError) throw error;
    const { text, code } = codeOf(error);
    throw new TransportError(`the connection broke during the response (${text})`, true, code);
  }
  return Buffer.concat(chunks);
}

export function createTransport(options: TransportOptions = {}): Transport {
  const proxyEnv = options.proxy === undefined ? {} : { proxyEnv: { HTTP_PROXY: options.proxy, HTTPS_PROXY: options.proxy } };
  const family = options.autoSelectFamily === undefined ? {} : { autoSelectFamily: options.autoSelectFamily };
  const settings = { keepAlive: true, timeout: IDLE_MS, ...family, ...proxyEnv };
  const [http, https] = [loadHttp(), loadHttps()];
  const agents = { http: new http.Agent(settings), https: new https.Agent(settings) };

  function send(url: string, { method = "GET", headers, body = null, signal }: TransportRequest): Promise<TransportAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<TransportAnswer>();
    const secure = url.startsWith("https:");
    const isWhole = typeof body === "string" || body instanceof Uint8Array;
    const size = isWhole ? { "content-length": String(Buffer.byteLength(body)) } : {};
    const ask = secure ? https.request : http.request;
    const request = ask(url, { method, headers: { ...headers, ...size }, agent: secure ? agents.https : agents.http });
    let sent = false;
    request.on("socket", (socket) => {
      // A connection that was used before is open: from here on bytes leave.
      if (!socket.connecting) sent = true;
      else socket.once(secure ? "secureConnect" : "connect", () => (sent = true));
    });
    const abort = (): void => void request.destroy(new TransportError("the request was abandoned", sent, "ABORTED"));
    request.on("response", (answer) => {
      // What is read later may be given up as well.
      answer.once("close", () => signal?.removeEventListener("abort", abort));
      resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: (maxBytes) => bytesOf(answer, maxBytes), stream: () => answer });
    });
    request.on("error", (error) => {
      signal?.removeEventListener("abort", abort);
      if (error instanceof TransportError) return reject(error);
      const { text, code } = codeOf(error);
      reject(new TransportError(sent ? `the connection broke (${text})` : `no connection (${text})`, sent, code));
    });
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort);
    if (body === null || isWhole) request.end(body ?? undefined);
    else {
      Readable.from(body, { objectMode: false })
        .on("error", (error) => request.destroy(error))
        .pipe(request);
    }
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

import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import { loadHttp } from "../../src/base/builtin.ts";
import { systemClock, type Clock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { OpenClawConfig } from "../../src/config/index.ts";
import { canBeRebound, hostNameOf } from "../../src/gateway/auth/peer/host.ts";
import { peerOf } from "../../src/gateway/auth/peer/peer.ts";
import { equalSecrets } from "../../src/base/equal-secrets.ts";
import type { HealthReport } from "../../src/gateway/health.ts";
import { createHttpSurface, type HttpAuth, type HttpSurface, type HttpSurfaceDeps } from "../../src/gateway/http/index.ts";
import { createMemoryResponder, type MemoryResponder } from "./memory-responder.ts";

export const TOKEN = "the-gateway-token";
export const RUN_SECRET = "the-run-secret";
export const HOOK_TOKEN = "the-hook-token";

export const HEALTHY: HealthReport = {
  ok: true,
  status: "ok",
  version: "1.2.3",
  pid: 1,
  startedAt: "2026-01-01T00:00:00.000Z",
  uptimeMs: 5,
  problems: [],
  config: { path: "/private/openclaw.json", source: "file", issues: [] },
  store: {},
};

/** Everything that can be switched on is on. */
export const ALL_ON: OpenClawConfig = {
  gateway: { http: { endpoints: { chatCompletions: { enabled: true }, responses: { enabled: true } } } },
  hooks: { enabled: true, token: HOOK_TOKEN },
};

/** The gateway's rules with one token, without the store that pairing needs. `locked` makes every failure a lockout. */
export function tokenAuth({ locked = false } = {}): HttpAuth {
  return {
    async bearer(request) {
      const peer = peerOf(request, []);
      const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
      if (equalSecrets(token, TOKEN)) return { ok: true, method: "token", peer };
      if (locked) return { ok: false, status: 429, message: "locked", peer, retryAfterMs: 1500 };
      return { ok: false, status: 401, message: "unauthorized", peer };
    },
    peerOf: (request) => peerOf(request, []),
    checkHost: (request) =>
      canBeRebound(hostNameOf(request.headers.host)) ? { ok: false, status: 403, message: "this gateway does not answer to that name" } : { ok: true },
    checkOrigin: () => "origin not allowed",
    login: { code: () => ({ code: "none", expiresAt: 0 }), redeem: async () => ({ ok: false, status: 401, message: "there are no codes here" }) },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly bytes: Buffer;
  json(): unknown;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly token?: string;
}

export interface TestSurface extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly surface: HttpSurface;
  readonly responder: MemoryResponder;
  ask(path: string, options?: AskOptions): Promise<Reply>;
  /** Sends raw bytes; resolves with everything that came back when the server closes or `until` is seen. */
  raw(bytes: string | Buffer, until?: string): Promise<string>;
  socket(): Socket;
}

export type SurfaceOptions = Partial<Omit<HttpSurfaceDeps, "config" | "responder">> & {
  readonly config?: OpenClawConfig;
  readonly responder?: MemoryResponder;
};

/** A store that holds nothing. */
const noSessions = { read: async () => undefined } as unknown as HttpSurfaceDeps["store"];

/** The gateway's HTTP on a real server, with a responder in memory. */
export async function startSurface(options: SurfaceOptions = {}): Promise<TestSurface> {
  const clock: Clock = options.clock ?? systemClock;
  const responder = options.responder ?? createMemoryResponder();
  const current = options.config ?? ALL_ON;
  const surface = createHttpSurface({
    auth: tokenAuth(),
    health: () => HEALTHY,
    log: silentLogger,
    ids: createIds(seededRandom(7)),
    runSecret: RUN_SECRET,
    store: noSessions,
    ...options,
    clock,
    responder,
    config: { current, resolveSecret: async (input) => (typeof input === "string" ? input : "") },
  });
  const server = loadHttp().createServer({ requestTimeout: 0, headersTimeout: 5000 }, (request, response) => surface.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<Socket>();
  const socket = (): Socket => {
    const opened = connect(port, "127.0.0.1");
    sockets.add(opened);
    opened.on("error", () => {});
    return opened;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    surface,
    responder,
    socket,
    ask: (path, { method = "GET", headers = {}, body, token } = {}) => {
      const { promise, resolve, reject } = Promise.withResolvers<Reply>();
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
      const sent = loadHttp().request(
        { host: "127.0.0.1", port, path, method, agent: false, headers: { ...authorization, ...length, ...headers } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => {
            const bytes = Buffer.concat(chunks);
            const text = bytes.toString("utf8");
            resolve({ status: response.statusCode!, headers: response.headers, body: text, bytes, json: () => JSON.parse(text) as unknown });
          });
          response.on("error", reject);
        },
      );
      sent.on("error", reject);
      sent.end(body);
      return promise;
    },
    raw(bytes, until) {
      const { promise, resolve } = Promise.withResolvers<string>();
      const opened = socket();
      let text = "";
      opened.on("data", (chunk) => {
        text += String(chunk);
        if (until !== undefined && text.includes(until)) opened.destroy();
      });
      opened.on("close", () => resolve(text));
      opened.write(bytes);
      return promise;
    },
    async [Symbol.asyncDispose]() {
      surface[Symbol.dispose]();
      for (const opened of sockets) opened.destroy();
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

import { timingSafeEqual, createHash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { loadHttp } from "../base/builtin.ts";
import { AppError, messageOf, systemCode } from "../base/errors.ts";
import type { Logger } from "../base/log/logger.ts";
import type { HealthReport } from "./health.ts";
import { welcomePage } from "./welcome-page.ts";

export interface GatewayDeps {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  readonly health: () => HealthReport;
  /** Known to the same user's CLI through the lock file; whoever presents it sees the whole report. */
  readonly runSecret: string;
  readonly log: Logger;
}

export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
}

/** Names under which a loopback listener may be addressed; any other Host is a rebinding attempt. */
const LOCAL_HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/i;

function equalSecrets(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "content-type": `${type}; charset=utf-8`,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'",
  });
  response.end(body);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, status, "application/json", JSON.stringify(value));
}

function handle(deps: GatewayDeps, request: IncomingMessage, response: ServerResponse): void {
  if (!LOCAL_HOST.test(request.headers.host ?? "")) return sendJson(response, 403, { error: "this gateway answers on its loopback address only" });
  if (request.method !== "GET" && request.method !== "HEAD") return sendJson(response, 405, { error: `${request.method} is not supported here` });
  const path = (request.url ?? "/").split("?")[0];
  if (path === "/health") {
    const report = deps.health();
    const trusted = equalSecrets(request.headers.authorization ?? "", `Bearer ${deps.runSecret}`);
    return sendJson(response, report.ok ? 200 : 503, trusted ? report : { ok: report.ok, status: report.status });
  }
  if (path === "/") return send(response, 200, "text/html", welcomePage(deps.health()));
  return sendJson(response, 404, { error: `nothing at ${path}` });
}

function listenError(error: unknown, { host, port }: GatewayDeps): AppError {
  const at = `ws://${host}:${port}`;
  if (systemCode(error) === "EADDRINUSE") {
    return new AppError("LOCKED", `another gateway instance is already listening on ${at}; stop it, or choose another port with --port`, {
      cause: error,
      details: { port },
    });
  }
  if (systemCode(error) === "EACCES")
    return new AppError("PERMISSION_DENIED", `this user may not listen on ${at}; choose a port above 1023 with --port`, { cause: error });
  return new AppError("IO_ERROR", `could not listen on ${at}: ${messageOf(error)}`, { cause: error });
}

/** Listens before it returns. Disposing closes the listener and every open connection. */
export async function createGateway(deps: GatewayDeps): Promise<Gateway> {
  const server = loadHttp().createServer({ requestTimeout: 10_000, headersTimeout: 5000, maxHeaderSize: 16_384 }, (request, response) => {
    try {
      handle(deps, request, response);
    } catch (error) {
      deps.log.error("a request failed", { url: request.url, error });
      if (!response.headersSent) sendJson(response, 500, { error: "internal error; the log has the details" });
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", (error) => reject(listenError(error, deps)));
  server.listen(deps.port, deps.host, resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${deps.host}:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      server.closeAllConnections();
      await closed.promise;
    },
  };
}

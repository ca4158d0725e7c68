import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import type { Documents } from "../../media/index.ts";
import type { Canvas } from "../../nodes/index.ts";
import type { Store } from "../../store/index.ts";
import type { HealthReport } from "../health.ts";
import type { FetchFile, Responder, ToolsPort } from "../ports.ts";
import { createBodyReader, type BodyReader } from "./body.ts";
import { canonicalTarget } from "./canonical-path.ts";
import { checkBasePath } from "../base-path.ts";
import { createControlUi, type ControlUi } from "./control-ui/routes.ts";
import { createGuard, type Guard, type HttpAuth } from "./guard.ts";
import { checkHooks, createHookAuth, hookRoutes, type HookRoutesDeps } from "./hooks.ts";
import { apiErrorOfThrown, RESTARTING, STARTING } from "./failures.ts";
import { errorBody, refuse, retryAfter, sendError, setCommonHeaders, type ApiError } from "./reply.ts";
import type { PluginRoute, Route } from "./route.ts";
import { createRouter, type Router } from "./router.ts";
import { canvasRoutes, openAiRoutes, statusRoutes } from "./own-routes.ts";
import type { ToolRouteDeps } from "./tools-invoke.ts";

export interface HttpSurfaceDeps {
  readonly auth: HttpAuth;
  readonly responder: Responder;
  readonly health: () => HealthReport;
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly store: Pick<Store, "read">;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Known to the same user's CLI through the lock file; with it, the whole health report is visible. */
  readonly runSecret: string;
  /** Without it no tool is called over HTTP. */
  readonly tools?: ToolsPort | undefined;
  /** Without it webhooks are answered with 503. */
  readonly webhooks?: HookRoutesDeps["webhooks"];
  /** Without it images come only inside of requests. */
  readonly fetchFile?: FetchFile | undefined;
  /** Without it files of requests are refused. */
  readonly documents?: Documents | undefined;
  /** Without it there is no canvas. */
  readonly canvas?: Pick<Canvas, "off" | "handle" | "isAllowed"> | undefined;
  readonly pluginRoutes?: readonly PluginRoute[];
  /** Handlers that look for their path themselves. Asked for what no route has; true: it has answered. It may not throw. */
  readonly unrouted?:
    | { needsToken(path: string): boolean; handle(request: IncomingMessage, response: ServerResponse, path: string): Promise<boolean> }
    | undefined;
  /** Whether routes may still be missing: what is delivered to one of them is to be delivered again. */
  readonly isStarting?: (() => boolean) | undefined;
  /** Folder with the built Control UI; without it and `gateway.controlUi.root` a welcome page is there instead. */
  readonly uiFolder?: string | undefined;
  /** Folder of an agent's files: pictures of agents are there. */
  readonly workspaceOf?: ((agentId: string) => string) | undefined;
  readonly runnable?: ((text: string) => string) | undefined;
  /** Memory and time for bodies; the documented ones when absent. */
  readonly bodies?: BodyReader;
}

/** Answers every HTTP request of the gateway. Disposing refuses new ones; runs that are under way are left to end, or to be resumed. */
export interface HttpSurface extends Disposable {
  /** Requests of our own routes that have no whole answer yet. Plugins' are not waited for: some are open for as long as their callers are. */
  readonly running: number;
  /** Tells everybody who has no answer yet that the gateway restarts. */
  endRest(): void;
  /** Never throws. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  readonly routes: readonly Route[];
  /** Adds a plugin's route; see `Router.register`. */
  registerRoute(route: PluginRoute): Disposable;
}

const MAX_TOOL_CALL_BYTES = 2_097_152;
const NO_BODY = Buffer.alloc(0);

/** The code behind it knows every tool: it is loaded with the first call. */
const toolRoute = (deps: ToolRouteDeps): Route => ({
  methods: ["POST"],
  path: "/tools/invoke",
  match: "exact",
  auth: "bearer",
  maxBodyBytes: MAX_TOOL_CALL_BYTES,
  handle: async (exchange) => (await import("./tools-invoke.ts")).invokeTool(deps, exchange),
});

/** Throws `CONFIG_INVALID` when hooks are on and would be open to everybody, or when the Control UI would have no place. */
export function createHttpSurface(deps: HttpSurfaceDeps): HttpSurface {
  const { auth, config, clock, log } = deps;
  checkHooks(config.current);
  checkBasePath(config.current);
  const hookAuth = createHookAuth({ auth, config, clock, log });
  const guard = createGuard({ auth, runSecret: deps.runSecret, hooks: hookAuth, canvas: deps.canvas });
  const bodies = deps.bodies ?? createBodyReader({ clock });
  const ui = createControlUi(deps);
  const router = createRouter(
    [...ui.routes, ...hookRoutes({ config, auth: hookAuth, webhooks: deps.webhooks, log }), toolRoute(deps)],
    [...openAiRoutes(deps), ...canvasRoutes(deps.canvas), ...statusRoutes(deps.health)],
  );
  for (const route of deps.pluginRoutes ?? []) router.register(route);
  const state = { stopping: false };
  /** With what else the end of the connection means. One listener for all of it: a handler's own, such as those of a pipeline, need the rest. */
  const open = new Map<ServerResponse, (() => void) | undefined>();
  const running = new Set<ServerResponse>();
  const begun = (route: Route, response: ServerResponse): void => {
    if ("plugin" in route || response.closed) return;
    running.add(response);
  };
  const pipeline: Pipeline = { auth, router, guard, bodies, clock, state, open, ui, unrouted: deps.unrouted, isStarting: deps.isStarting, begun };

  return {
    get routes() {
      return router.routes;
    },
    registerRoute: (route) => router.register(route),
    get running() {
      return running.size;
    },
    endRest() {
      for (const response of open.keys()) if (!response.headersSent) sendError(response, RESTARTING, { connection: "close" });
    },
    handle(request, response) {
      open.set(response, undefined);
      response.once("close", () => {
        const closed = open.get(response);
        open.delete(response);
        running.delete(response);
        closed?.();
      });
      answer(pipeline, request, response).catch((error: unknown) => {
        const known = apiErrorOfThrown(error);
        log.error("a request failed", { method: request.method, url: request.url?.split("?")[0], error });
        if (response.headersSent) response.destroy();
        else sendError(response, known);
      });
    },
    [Symbol.dispose]() {
      state.stopping = true;
    },
  };
}

interface Pipeline {
  readonly auth: HttpAuth;
  readonly router: Router;
  readonly guard: Guard;
  readonly bodies: BodyReader;
  readonly clock: Clock;
  readonly state: { stopping: boolean };
  /** Responses that are not closed, and what is called when one is. */
  readonly open: Map<ServerResponse, (() => void) | undefined>;
  readonly ui: ControlUi;
  readonly unrouted: HttpSurfaceDeps["unrouted"];
  readonly isStarting: HttpSurfaceDeps["isStarting"];
  /** Counts a request whose handler begins. */
  readonly begun: (route: Route, response: ServerResponse) => void;
}

/** The route of a path; `answered` when a plugin that looks for its paths itself has answered. The Control UI has what is left. */
async function routeOf(
  pipeline: Pipeline,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<Route | "answered" | undefined> {
  const route = pipeline.router.find(path);
  if (route) return route;
  const { unrouted } = pipeline;
  const allowed = unrouted !== undefined && (!unrouted.needsToken(path) || (await pipeline.guard("bearer", request, query, path)).ok);
  if (allowed && (await unrouted.handle(request, response, path))) return "answered";
  return pipeline.ui.find(path, request.method);
}

/** From headers to handler: Host, path, route, method, auth, body. Nothing of the body is read before auth has passed. */
async function answer(pipeline: Pipeline, request: IncomingMessage, response: ServerResponse): Promise<void> {
  setCommonHeaders(response);
  const fail = (error: ApiError, headers: Readonly<Record<string, string>> = {}, shape: Route["errors"] = "openai"): void =>
    refuse(pipeline.clock, { request, response }, error.status, shape === "ok-false" ? { ok: false, error: error.message } : errorBody(error), headers);

  if (pipeline.state.stopping) return fail(RESTARTING, { ...retryAfter(RESTARTING), connection: "close" });
  const host = pipeline.auth.checkHost(request);
  if (!host.ok) return fail({ status: host.status, message: host.message, type: "forbidden" });
  const target = canonicalTarget(request.url ?? "");
  if (!target.ok) return fail({ status: target.status, message: target.reason, type: "invalid_request_error" });
  const { path, query } = target;
  const route = await routeOf(pipeline, request, response, path, query);
  if (route === "answered") return;
  if (!route && request.method === "POST" && pipeline.isStarting?.()) return fail(STARTING, retryAfter(STARTING));
  if (!route) return fail({ status: 404, message: `not found: ${path}`, type: "not_found" });
  const off = route.off?.();
  if (off !== undefined) return fail({ status: 404, message: `not found: ${path}: ${off}`, type: "not_found" });
  const allow = takesMethod(route, request.method) ? undefined : (route.methods.includes("GET") ? [...route.methods, "HEAD"] : route.methods).join(", ");
  const wrongMethod: ApiError = { status: 405, message: `Method Not Allowed: use ${allow}`, type: "invalid_request_error" };
  if (allow !== undefined && route.authFirst !== true) return fail(wrongMethod, { allow }, route.errors);

  const verdict = await pipeline.guard(route.auth, request, query, path);
  if (!verdict.ok) {
    const retry: Record<string, string> =
      verdict.retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(verdict.retryAfterMs / 1000))) };
    return fail(verdict.error, retry, route.errors);
  }
  if (allow !== undefined) return fail(wrongMethod, { allow }, route.errors);

  const limit = typeof route.maxBodyBytes === "function" ? route.maxBodyBytes() : route.maxBodyBytes;
  const read = route.readsBody === true ? { ok: true as const, body: NO_BODY } : await pipeline.bodies.read(request, limit);
  if (!read.ok) {
    if (request.destroyed && !request.complete) return;
    const type = read.status === 503 ? "unavailable" : "invalid_request_error";
    return fail({ status: read.status, message: read.message, type }, read.status === 503 ? { "retry-after": "1" } : {}, route.errors);
  }
  const exchange = { request, response, path, query, body: read.body, trusted: verdict.trusted };
  pipeline.begun(route, response);
  using watched = watch(pipeline, route, response);
  await route.handle({ ...exchange, signal: watched.signal });
}

function takesMethod(route: Route, method: string | undefined): boolean {
  const wanted = method === "HEAD" ? "GET" : method;
  return route.methods.some((known) => known === wanted);
}

/** Tells a handler when its caller is gone or its time is over. */
function watch({ clock, state, open }: Pipeline, route: Route, response: ServerResponse): Disposable & { readonly signal: AbortSignal } {
  const gone = new AbortController();
  const onClose = (): void => {
    if (!response.writableFinished && !state.stopping) gone.abort();
  };
  if (open.has(response)) open.set(response, onClose);
  const deadline =
    route.timeoutMs === undefined
      ? undefined
      : clock.after(route.timeoutMs, () => {
          gone.abort();
          if (response.headersSent) response.destroy();
          else sendError(response, { status: 504, message: `no response within ${route.timeoutMs} ms`, type: "api_error" });
        });
  return {
    signal: gone.signal,
    [Symbol.dispose]() {
      deadline?.[Symbol.dispose]();
      if (open.has(response)) open.set(response, undefined);
    },
  };
}

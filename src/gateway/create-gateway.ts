import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config } from "../config/index.ts";
import { covers, loadValidators, type Health, type HelloOk, type Validators } from "../protocol/index.ts";
import type { Store } from "../store/index.ts";
import type { Auth, PeerRequest } from "./auth/index.ts";
import { networkAddress } from "./bind.ts";
import type { Client } from "./connections/connection.ts";
import { createConnections } from "./connections/connections.ts";
import type { HelloFacts } from "./connections/handshake.ts";
import { createFanout, type Fanout } from "./fanout.ts";
import { createHealthFeed, startTicking, type HealthFeed } from "./health-feed.ts";
import type { HealthReport } from "./health.ts";
import { canonicalTarget } from "./http/canonical-path.ts";
import { createHttpSurface, type HttpSurface, type HttpSurfaceDeps, type PluginRoute } from "./http/index.ts";
import { createDispatcher, type CallContext, type Dispatcher, type DispatcherDeps, type ExtraMethods, type Handlers } from "./methods/index.ts";
import type { Canvas, NodeLink, Nodes } from "../nodes/index.ts";
import type { Responder } from "./ports.ts";
import { createPresence, type Presence } from "./presence.ts";
import { refuseUpgrade, type GatewayServer } from "./server.ts";
import { STOPPING, type StopReason } from "./stop-reason.ts";

/** What handlers may use of the gateway they are part of. */
export interface GatewayHub {
  readonly broadcast: Fanout["broadcast"];
  readonly piece: Fanout["piece"];
  readonly form: Fanout["form"];
  readonly hasListeners: Fanout["hasListeners"];
  /** To one connection, without a number. */
  readonly send: Fanout["send"];
  readonly audience: Fanout["audience"];
  readonly presence: Presence;
  readonly health: Pick<HealthFeed, "get" | "refresh">;
  /** Connections after hello, by id. */
  readonly clients: ReadonlyMap<string, Client>;
  /** Fires when the gateway stops. */
  readonly stopping: AbortSignal;
}

export interface GatewayDeps {
  /** Listens already; the gateway closes it in the end. */
  readonly server: GatewayServer;
  readonly config: Pick<Config, "current" | "resolveSecret">;
  readonly store: Store;
  readonly auth: Auth;
  readonly responder: Responder;
  readonly handlers: (hub: GatewayHub) => Handlers;
  readonly health: () => HealthReport;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly version: string;
  readonly platform: string;
  /** Known to the same user's CLI through the lock file. */
  readonly runSecret: string;
  /** Named in `hello-ok`. */
  readonly paths: { readonly config: string; readonly state: string };
  readonly sessionDefaults?: () => NonNullable<HelloOk["snapshot"]["sessionDefaults"]>;
  /** Without it `/tools/invoke` answers `UNAVAILABLE`. */
  readonly tools?: HttpSurfaceDeps["tools"];
  /** Fetches images that HTTP callers name by their address. */
  readonly fetchFile?: HttpSurfaceDeps["fetchFile"];
  /** Reads files of HTTP callers. */
  readonly documents?: HttpSurfaceDeps["documents"];
  /** Takes the requests of other programs. */
  readonly webhooks?: HttpSurfaceDeps["webhooks"];
  readonly uiFolder?: HttpSurfaceDeps["uiFolder"];
  readonly workspaceOf?: HttpSurfaceDeps["workspaceOf"];
  readonly pluginRoutes?: readonly PluginRoute[];
  /** Methods that plugins bring. */
  readonly extraMethods?: ExtraMethods;
  /** Learns which nodes come and go. */
  readonly nodes?: Pick<Nodes, "connected" | "disconnected" | "unreadable"> | undefined;
  /** Pages of agents; without it there is no canvas. */
  readonly canvas?: Canvas | undefined;
  /** A client connected: memory may be in use that can be released. */
  readonly touched?: () => void;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable?: HttpSurfaceDeps["runnable"];
  /** Asked for requests that no route has; true: it has answered. */
  readonly unrouted?: HttpSurfaceDeps["unrouted"];
  readonly isStarting?: HttpSurfaceDeps["isStarting"];
}

/** A running gateway. Disposing stops it as `gateway stopping`. */
export interface Gateway extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly hub: GatewayHub;
  /** Loads what the first connection needs, ahead of it. */
  warm(): Promise<void>;
  /** Adds a plugin's route: `CONFLICT` when the path is taken. Disposing takes it away. */
  readonly registerRoute: HttpSurface["registerRoute"];
  /** Requests that have no answer yet. */
  running(): number;
  /** Requests over HTTP that have no whole answer yet, besides those to plugins. */
  answering(): number;
  /** Takes nothing new and tells the clients; what was begun is still answered. `stop` comes next. */
  drain(reason: StopReason): void;
  /** Closes the connections of clients with 1012; what comes over HTTP is still answered. A second call waits for the first. */
  disconnect(): Promise<void>;
  /** Tells the clients, closes their connections with 1012 and the listeners. A second call waits for the first. */
  stop(reason: StopReason): Promise<void>;
}

/** How long a hello waits for the first look at the health. */
const FIRST_LOOK_MS = 1000;

/** WebSockets of the canvas: no connections of clients. */
const CANVAS_PATH = /^\/__openclaw__\/(?:ws|cap\/[^/]+\/__openclaw__\/ws)(?:[/?#]|$)/;

/** The caller of what the gateway asks of itself. */
function ownContext(stopping: AbortSignal, version: string, platform: string): CallContext {
  const client = { id: "gateway-client", mode: "backend", version, platform };
  return {
    caller: { connId: "gateway", role: "operator", scopes: new Set(["operator.admin"]), client, caps: new Set(), local: true },
    signal: stopping,
    accepted: () => {},
  };
}

/** What `health` looks like before any module reports to it. */
function bareHealth(now: number): Health {
  const sessions = { path: "", count: 0, recent: [] };
  const nothing = { channels: {}, channelOrder: [], channelLabels: {}, heartbeatSeconds: 0, agents: [], sessions };
  return { ok: true, ts: now, durationMs: 0, defaultAgentId: "main", ...nothing };
}

/** One announcement for all that changes in a turn of the event loop, and none once the gateway stops: a thousand clients that leave together would each be announced to all the others. */
function announceSoon(announce: () => void, stopping: AbortSignal): () => void {
  let planned = false;
  return () => {
    if (planned || stopping.aborted) return;
    planned = true;
    setImmediate(() => {
      planned = false;
      if (!stopping.aborted) announce();
    });
  };
}

/** How the gateway is at this moment. What is wrong may name files: that is for administrators. */
const stateNow = ({ status, problems }: HealthReport, scopes: Parameters<typeof covers>[0]): Pick<Health, "status" | "problems"> => ({
  status,
  ...(problems.length > 0 && covers(scopes, "operator.admin") ? { problems } : {}),
});

/** Presence, health and their announcements. */
function createState(deps: GatewayDeps, fanout: Fanout, look: () => Promise<Health>, stopping: AbortSignal): { presence: Presence; health: HealthFeed } {
  const { clock, log, version, platform } = deps;
  const stateVersion = (): { presence: number; health: number } => ({ presence: presence.version, health: health.version });
  const presence = createPresence({
    clock,
    version,
    platform,
    host: hostname(),
    ip: networkAddress(networkInterfaces()),
    onChange: announceSoon(() => fanout.broadcast("presence", { presence: presence.list() }, { stateVersion: stateVersion() }), stopping),
  });
  const health = createHealthFeed({ clock, log, look, onLook: (seen) => fanout.broadcast("health", seen, { stateVersion: stateVersion() }) });
  return { presence, health };
}

function helloFacts(deps: GatewayDeps, dispatcher: Pick<Dispatcher, "advertised">, presence: Presence, health: HealthFeed): HelloFacts {
  const { auth, clock, log, paths, version, sessionDefaults } = deps;
  const startedAt = clock.monotonic();
  let last: Health | undefined;
  return {
    version,
    host: hostname(),
    get methods() {
      return dispatcher.advertised;
    },
    // Nobody is kept out by a health that cannot be had.
    async prepare() {
      const waited = Promise.withResolvers<undefined>();
      using _ = clock.after(FIRST_LOOK_MS, () => waited.resolve(undefined));
      const found = health.current().catch((error: unknown) => {
        log.warn("the health check failed", { error });
        return undefined;
      });
      last = (await Promise.race([found, waited.promise])) ?? last;
    },
    snapshot: () => ({
      presence: presence.list(),
      health: last ?? bareHealth(clock.now()),
      stateVersion: { presence: presence.version, health: health.version },
      uptimeMs: Math.round(clock.monotonic() - startedAt),
      configPath: paths.config,
      stateDir: paths.state,
      ...(sessionDefaults ? { sessionDefaults: sessionDefaults() } : {}),
      authMode: auth.mode,
    }),
    canvasHostUrl: (client, request) => canvasHostUrl(deps, client, request),
  };
}

/** Where a proxy on this machine may come from with a name of its own. */
function isHostAllowed({ auth, config }: GatewayDeps, request: IncomingMessage): boolean {
  const peer = auth.peerOf(request);
  const served = config.current.gateway?.tailscale?.mode;
  return peer.trustedProxy || (peer.hostName.endsWith(".ts.net") && (served === "serve" || served === "funnel"));
}

interface Endable {
  readonly dispatcher: Pick<Dispatcher, "closed" | "close"> & Disposable;
  readonly ticking: Disposable;
  readonly surface: Pick<HttpSurface, "endRest"> & Disposable;
  readonly fanout: Fanout;
  readonly stop: AbortController;
  readonly connections: ReturnType<typeof createConnections>;
  readonly server: GatewayServer;
}

/** The way down: first nothing new comes in, then everything is closed. */
function createEnd({ dispatcher, ticking, surface, fanout, stop, connections, server }: Endable): Pick<Gateway, "drain" | "disconnect" | "stop"> {
  let closeReason = "service restart";
  function drain({ reason, restartExpectedMs, closeReason: next = closeReason }: StopReason): void {
    if (dispatcher.closed) return;
    closeReason = next;
    dispatcher.close();
    ticking[Symbol.dispose]();
    surface[Symbol.dispose]();
    fanout.broadcast("shutdown", { reason, restartExpectedMs });
  }

  let disconnected: Promise<void> | undefined;
  async function closeClients(): Promise<void> {
    stop.abort();
    await connections.close(1012, closeReason);
  }
  const disconnect = (): Promise<void> => (disconnected ??= closeClients());

  async function shutDown(reason: StopReason): Promise<void> {
    drain(reason);
    await disconnect();
    dispatcher[Symbol.dispose]();
    surface.endRest();
    await server[Symbol.asyncDispose]();
  }

  let stopped: Promise<void> | undefined;
  return { drain, disconnect, stop: (reason) => (stopped ??= shutDown(reason)) };
}

/** The way to a node, as the nodes module uses it. */
const nodeLink = (client: Client, { send }: Pick<Fanout, "send">): NodeLink => ({
  connId: client.connId,
  send: (event, payload) => send(client.connId, event, payload),
  close: (reason) => client.close(1008, reason),
  followed: () => (client.followed ??= new Set()),
});

function takeNode({ nodes, canvas }: GatewayDeps, ...[nodeId, params, remoteIp, link]: Parameters<Nodes["connected"]>): void {
  nodes?.connected(nodeId, params, remoteIp, link);
  if (params.commands?.some((command) => command.startsWith("canvas."))) canvas?.seen();
}

function leaveModules({ nodes, canvas }: GatewayDeps, { connId, role }: Client): void {
  canvas?.disconnected(connId);
  if (role === "node") nodes?.disconnected(connId);
}

/** What carries requests to their handlers. A node whose answer does not fit the protocol has answered all the same: nobody waits for another. */
function dispatching(deps: GatewayDeps, handlers: Handlers): Omit<DispatcherDeps, "validators" | "stopping"> {
  const onMisfit: DispatcherDeps["onMisfit"] = (method, params, { caller }, problem) => {
    if (method === "node.invoke.result" && caller.role === "node") void deps.nodes?.unreadable(params, caller.connId, problem);
  };
  return { ...deps, handlers, extra: deps.extraMethods, onMisfit };
}

/** Takes a page of the canvas that waits for changes. It has no origin to check; its address or its token say that it may. */
async function takeCanvasSocket({ auth, canvas }: GatewayDeps, request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
  const target = canonicalTarget(request.url ?? "");
  if (!canvas || canvas.off() !== undefined || !target.ok) return refuseUpgrade(socket, 404, "this gateway has no canvas");
  const verdict = canvas.isAllowed(target.path, target.query) ? ({ ok: true } as const) : await auth.bearer(request);
  if (!verdict.ok) return refuseUpgrade(socket, verdict.status, verdict.message);
  canvas.upgrade(request, socket, head, target);
}

/** Where a client finds the canvas. Nodes get an address that needs no other secret. */
function canvasHostUrl({ auth, canvas, server }: GatewayDeps, { connId, role }: Client, request: PeerRequest): string | undefined {
  const host = request.headers.host;
  if (!canvas || canvas.off() !== undefined || host === undefined) return undefined;
  const forwarded = auth.peerOf(request).trustedProxy ? request.headers["x-forwarded-proto"] : undefined;
  const secure = forwarded === undefined ? /^(?:https|wss):/.test(server.url) : forwarded === "https";
  return `http${secure ? "s" : ""}://${host}${canvas.address(connId, role === "node")}`;
}

/** Wires connections, methods and events to a server that already listens. */
export function createGateway(deps: GatewayDeps): Gateway {
  const { auth, clock, ids, log, server, version, platform } = deps;
  const stop = new AbortController();
  const fanout = createFanout({ onSlow: (slow, event, outcome) => log.warn(`a slow connection: ${event} was ${outcome}`, { connId: slow.connId }) });
  const look = async (): Promise<Health> => handlers.health?.({ probe: true }, ownContext(stop.signal, version, platform)) ?? bareHealth(clock.now());
  const { presence, health } = createState(deps, fanout, look, stop.signal);
  const checks = lazy<Validators>(loadValidators);
  const hub: GatewayHub = {
    broadcast: fanout.broadcast,
    piece: fanout.piece,
    form: fanout.form,
    hasListeners: fanout.hasListeners,
    send: fanout.send,
    audience: fanout.audience,
    presence,
    health,
    get clients() {
      return connections.clients;
    },
    stopping: stop.signal,
  };
  const handlers = deps.handlers(hub);
  const cached: Handlers = handlers.health
    ? { ...handlers, health: async ({ probe }, { caller }) => ({ ...(await health.get(probe === true)), ...stateNow(deps.health(), caller.scopes) }) }
    : handlers;
  const dispatcher = createDispatcher({ ...dispatching(deps, cached), validators: checks, stopping: stop.signal });
  const connections = createConnections({
    auth,
    dispatcher,
    fanout,
    clock,
    ids,
    log,
    hello: helloFacts(deps, dispatcher, presence, health),
    loadValidators: checks,
    onAdmitted: server.admit,
    onOpening(client, params) {
      const { connId, deviceId, role, scopes, remoteIp } = client.caller;
      client.presenceKey = presence.connected({ connId, client: params.client, deviceId, role, scopes, remoteIp });
      if (role === "node" && deviceId !== undefined) takeNode(deps, deviceId, params, remoteIp, nodeLink(client, fanout));
    },
    onOpen() {
      deps.touched?.();
      health.refresh();
    },
    onLeave(client) {
      leaveModules(deps, client);
      if (client.presenceKey !== undefined) presence.disconnected(client.presenceKey);
    },
  });
  const surface = createHttpSurface(deps);
  const ticking = startTicking({ clock, fanout, onMinute: () => fanout.size > 0 && health.refresh() });
  server.serve({
    request(request, response) {
      dispatcher.track(response);
      surface.handle(request, response);
    },
    upgrade(request, socket, head) {
      const isCanvas = CANVAS_PATH.test(request.url ?? "");
      const peer = isCanvas ? auth.checkHost(request) : auth.checkUpgrade(request);
      if (dispatcher.closed) refuseUpgrade(socket, 503, "the gateway is restarting; try again in a moment", { "retry-after": "5" });
      else if (!peer.ok) refuseUpgrade(socket, peer.status, peer.message);
      else if (isCanvas) void takeCanvasSocket(deps, request, socket, head);
      else connections.upgrade(request, socket, head);
    },
    isHostAllowed: (request) => isHostAllowed(deps, request),
  });

  const ends = createEnd({ dispatcher, ticking, surface, fanout, stop, connections, server });
  return {
    url: server.url,
    port: server.port,
    hub,
    warm: connections.warm,
    registerRoute: surface.registerRoute,
    running: () => dispatcher.running,
    answering: () => surface.running,
    ...ends,
    [Symbol.asyncDispose]: () => ends.stop(STOPPING),
  };
}

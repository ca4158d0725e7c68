import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { resolve } from "node:path";
import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { lazy } from "../../base/lazy.ts";
import type { Logger } from "../../base/log/logger.ts";
import type { Config } from "../../config/index.ts";
import type { Store } from "../../store/index.ts";
import type { CanvasActions, CanvasActionsDeps } from "./actions.ts";
import type { CanvasExchange } from "./host.ts";
import { CANVAS_PREFIX, canvasPath, scopedPrefix } from "./paths.ts";
import type { CanvasSurfaces, SurfacesDeps } from "./surfaces.ts";

/** The canvas: pages of agents, and who shows them. */
export interface Canvas extends Disposable {
  /** Why it is not served; undefined when it is. */
  off(): string | undefined;
  /** The address of a client's canvas below the gateway's own; `scoped` addresses need no other secret. */
  address(connId: string, scoped: boolean): string;
  /** True when the address holds a capability that is valid. */
  isAllowed(path: string, query: URLSearchParams): boolean;
  handle(exchange: Omit<CanvasExchange, "at"> & { readonly path: string; readonly query: URLSearchParams }): Promise<void>;
  /** Takes an authorised upgrade for live reload. */
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer, at: { readonly path: string; readonly query: URLSearchParams }): void;
  disconnected(connId: string): void;
  surfaces(): Promise<CanvasSurfaces>;
  /** The user did something on the canvas. */
  readonly act: CanvasActions["take"];
  /** True once something that shows a canvas has connected. */
  readonly wereSeen: boolean;
  seen(): void;
}

export interface CanvasDeps extends SurfacesDeps, CanvasActionsDeps {
  readonly config: Pick<Config, "current" | "paths">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Folder with the code of the canvas, as the build made it. */
  readonly codeFolder: string;
  /** Set to 1 in the environment: the canvas is not served. */
  readonly skipped: boolean;
  readonly store: Pick<Store, "read" | "commit">;
}

const VALID_MS = 10 * 60_000;
const TOKEN_BYTES = 24;

/** Secrets in addresses of the canvas. Each belongs to one connection and ends with it. */
interface Capabilities {
  /** The connection's token; a new one when it has none that is valid. */
  issue(connId: string): string;
  /** True for a token of a connection that is there; each use renews it. */
  check(token: string): boolean;
  /** The connection is gone. */
  revoke(connId: string): void;
}

interface Held {
  readonly connId: string;
  readonly token: string;
  readonly digest: string;
  expiresAt: number;
}

/** Tokens are looked up by their digest: the time that takes says nothing about them. */
const digestOf = (token: string): string => createHash("sha256").update(token, "utf8").digest("hex");

function createCapabilities({ clock, ids }: { readonly clock: Pick<Clock, "monotonic">; readonly ids: Pick<Ids, "hex"> }): Capabilities {
  const byConnection = new Map<string, Held>();
  const byDigest = new Map<string, Held>();
  function revoke(connId: string): void {
    const known = byConnection.get(connId);
    if (!known) return;
    byConnection.delete(connId);
    byDigest.delete(known.digest);
  }
  function renewed(held: Held | undefined): boolean {
    const now = clock.monotonic();
    if (held === undefined || held.expiresAt <= now) return false;
    held.expiresAt = now + VALID_MS;
    return true;
  }

  return {
    issue(connId) {
      const known = byConnection.get(connId);
      if (known && renewed(known)) return known.token;
      revoke(connId);
      const token = ids.hex(TOKEN_BYTES);
      const held = { connId, token, digest: digestOf(token), expiresAt: clock.monotonic() + VALID_MS };
      byConnection.set(connId, held);
      byDigest.set(held.digest, held);
      return token;
    },
    check: (token) => renewed(byDigest.get(digestOf(token))),
    revoke,
  };
}

export function createCanvas(deps: CanvasDeps): Canvas {
  const { config, clock, log } = deps;
  const capabilities = createCapabilities(deps);
  const root = (): string => {
    const configured = config.current.canvasHost?.root;
    return configured === undefined ? resolve(config.paths.state, "canvas") : resolve(configured);
  };
  const liveReload = (): boolean => config.current.canvasHost?.liveReload !== false;
  const host = lazy(async () => (await import("./host.ts")).createCanvasHost({ root, liveReload, codeFolder: deps.codeFolder }));
  const reload = lazy(async () => (await import("./live-reload.ts")).createLiveReload({ root, clock, log }));
  const surfaces = lazy(async () => {
    const [{ createSurfaces }, { createSavedCanvases }] = await Promise.all([import("./surfaces.ts"), import("./saved.ts")]);
    return createSurfaces({ ...deps, saved: createSavedCanvases(deps.store), hasPage: async (path) => (await import("./host.ts")).hasPage(root(), path) });
  });
  const actions = lazy(async () => (await import("./actions.ts")).createCanvasActions(deps));

  const canvas: Canvas & { wereSeen: boolean } = {
    wereSeen: false,
    off() {
      if (deps.skipped) return "OPENCLAW_SKIP_CANVAS_HOST is set";
      return config.current.canvasHost?.enabled === false ? "canvasHost.enabled is off" : undefined;
    },
    address: (connId, scoped) => (scoped ? scopedPrefix(capabilities.issue(connId)) : ""),
    isAllowed(path, query) {
      const { token } = canvasPath(path, query);
      return token !== undefined && capabilities.check(token);
    },
    handle: async ({ request, response, path, query }) => (await host()).handle({ request, response, at: canvasPath(path, query) }),
    upgrade(request, socket, head, { path, query }) {
      const at = canvasPath(path, query);
      const { token } = at;
      if (at.path !== `${CANVAS_PREFIX}/ws` || !liveReload()) {
        socket.destroy();
        return;
      }
      reload()
        .then((open) => open.take(request, socket, head, () => token === undefined || capabilities.check(token)))
        .catch(() => socket.destroy());
    },
    disconnected(connId) {
      capabilities.revoke(connId);
      void surfaces.started()?.then((open) => open.disconnected(connId));
    },
    surfaces,
    act: async (...args) => (await actions()).take(...args),
    seen: () => void (canvas.wereSeen = true),
    [Symbol.dispose]() {
      void reload.started()?.then((open) => open[Symbol.dispose]());
    },
  };
  return canvas;
}

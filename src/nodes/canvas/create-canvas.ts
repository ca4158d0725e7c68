import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import { lazy } from "../../base/lazy.ts";
import type { Logger } from "../../base/log/logger.ts";
import { resolve } from "node:path";
import type { Config } from "../../config/index.ts";
import type { CanvasActions, CanvasActionsDeps } from "./actions.ts";
import { createCapabilities } from "./capabilities.ts";
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
  wereSeen(): boolean;
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
  const surfaces = lazy(async () => (await import("./surfaces.ts")).createSurfaces(deps));
  const actions = lazy(async () => (await import("./actions.ts")).createCanvasActions(deps));
  let seen = false;

  return {
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
    wereSeen: () => seen,
    seen: () => void (seen = true),
    [Symbol.dispose]() {
      void reload.started()?.then((open) => open[Symbol.dispose]());
    },
  };
}

import { lazy } from "../../../base/lazy.ts";
import type { Config } from "../../../config/index.ts";
import type { HealthReport } from "../../health.ts";
import type { HttpAuth } from "../guard.ts";
import type { Exchange, Route } from "../route.ts";
import { basePathOf, below, restOf } from "../../base-path.ts";
import type { Site } from "./site.ts";

export interface ControlUiDeps {
  readonly auth: HttpAuth;
  readonly config: Pick<Config, "current">;
  readonly health: () => HealthReport;
  /** Folder with the built page; `gateway.controlUi.root` goes before it. */
  readonly uiFolder?: string | undefined;
  /** Folder of an agent's files, for its picture. */
  readonly workspaceOf?: ((agentId: string) => string) | undefined;
  /** Makes the commands in a text run as they are printed. */
  readonly runnable?: ((text: string) => string) | undefined;
}

export interface ControlUi {
  /** Paths that belong to the page, and that nobody else may take. */
  readonly routes: readonly Route[];
  /** The route of a path that nobody else has: the page has it, or something that the page loads. */
  find(path: string, method: string | undefined): Route | undefined;
}

/** Login codes are short; longer bodies are something else. */
const MAX_LOGIN_BYTES = 4096;
/** A reader that takes longer holds a file open for nothing. */
const FILE_TIMEOUT_MS = 120_000;

/** The Control UI. Only these declarations are loaded at start. */
export function createControlUi(deps: ControlUiDeps): ControlUi {
  const site = lazy(async (): Promise<Site> => (await import("./site.ts")).createSite(deps));
  const base = (): string | undefined => basePathOf(deps.config.current);
  const under = (name: string) => (): string | undefined => {
    const found = base();
    return found === undefined ? undefined : below(found, name);
  };
  const own = (name: string) => under(`__openclaw/${name}`);
  const read = { methods: ["GET"], auth: "public", maxBodyBytes: 0, timeoutMs: FILE_TIMEOUT_MS } as const;
  const page: Route = { ...read, path: "/", match: "prefix", handle: async (exchange: Exchange) => (await site()).serve(exchange) };

  return {
    routes: [
      {
        methods: ["POST"],
        path: own("login"),
        match: "exact",
        auth: "own",
        maxBodyBytes: MAX_LOGIN_BYTES,
        errors: "ok-false",
        handle: async (exchange) => (await site()).login(exchange),
      },
      { ...read, path: own("control-ui-config.json"), match: "exact", handle: async (exchange) => (await site()).settings(exchange) },
      { ...read, path: under("avatar"), match: "prefix", handle: async (exchange) => (await import("./avatar.ts")).sendAvatar(exchange, deps) },
      { ...page, match: "exact" },
    ],
    find(path, method) {
      const at = base();
      if (at === undefined || restOf(at, path) === undefined) return undefined;
      return method === "GET" || method === "HEAD" ? page : undefined;
    },
  };
}

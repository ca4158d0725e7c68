import { AppError } from "../../base/errors.ts";
import { canonicalTarget } from "./canonical-path.ts";
import type { PluginRoute, Route, RouteAuth, RouteMethod } from "./route.ts";

const AUTH: Readonly<Record<RouteAuth, true>> = { public: true, bearer: true, "run-secret-detail": true, "hook-token": true, canvas: true, own: true };
const METHODS: ReadonlySet<string> = new Set<RouteMethod>(["GET", "POST", "PUT", "PATCH", "DELETE"]);

export interface Router {
  /** Every route, in the order in which they are asked. */
  readonly routes: readonly Route[];
  /** The first route that has the path. */
  find(path: string): Route | undefined;
  /** Adds a plugin's route. Refuses one that overlaps with another (`CONFLICT`) or is not declared fully (`INVALID_INPUT`). Disposing takes it away. */
  register(route: PluginRoute): Disposable;
}

/** The path of a route now; undefined when the configuration takes it away. */
export const pathOf = (route: Route): string | undefined => (typeof route.path === "string" ? route.path : route.path());

function covers(route: Route, path: string): boolean {
  const own = pathOf(route);
  if (own === undefined) return false;
  return own === path || (route.match === "prefix" && path.startsWith(own.endsWith("/") ? own : `${own}/`));
}

/** Checked at run time too: plugins are not compiled against these types. */
function checkDeclared(route: Route): void {
  const at = JSON.stringify(pathOf(route));
  const fail = (expected: string): never => {
    throw new AppError("INVALID_INPUT", `the HTTP route ${at} cannot be registered: ${expected}`);
  };
  if (typeof route.auth !== "string" || !Object.hasOwn(AUTH, route.auth)) fail(`it must declare auth as one of ${Object.keys(AUTH).join(", ")}`);
  if (route.methods.length === 0 || route.methods.some((method) => !METHODS.has(method))) fail(`its methods must be from ${[...METHODS].join(", ")}`);
  if (route.match !== "exact" && route.match !== "prefix") fail('match must be "exact" or "prefix"');
  const limit = typeof route.maxBodyBytes === "function" ? route.maxBodyBytes() : route.maxBodyBytes;
  if (!Number.isSafeInteger(limit) || limit < 0) fail("maxBodyBytes must be the largest body in bytes, 0 for none");
  const path = pathOf(route);
  if (path === undefined) return;
  const read = canonicalTarget(encodeURI(path));
  if (!read.ok || read.path !== path || (path.length > 1 && path.endsWith("/"))) fail("its path must be absolute, decoded, and without a trailing slash");
}

/** Routes are asked in order; `before` come ahead of those of plugins, `after` behind them. */
export function createRouter(before: readonly Route[], after: readonly Route[]): Router {
  const plugins: PluginRoute[] = [];
  const all = (): readonly Route[] => [...before, ...plugins, ...after];
  for (const route of all()) checkDeclared(route);

  function conflictOf(route: PluginRoute): Route | undefined {
    return all().find((other) => {
      const path = pathOf(other);
      return path !== undefined && path !== "/" && (covers(route, path) || covers(other, route.path));
    });
  }

  return {
    get routes() {
      return all();
    },
    find: (path) => before.find((route) => covers(route, path)) ?? plugins.find((route) => covers(route, path)) ?? after.find((route) => covers(route, path)),
    register(route) {
      checkDeclared(route);
      if (route.path === "/") throw new AppError("CONFLICT", `the plugin ${route.plugin} asks for the HTTP route "/", which belongs to the gateway`);
      const other = conflictOf(route);
      if (other) {
        const owner = "plugin" in other ? `the plugin ${String(other.plugin)}` : "the gateway";
        throw new AppError("CONFLICT", `the plugin ${route.plugin} asks for the HTTP route ${route.path}, but ${owner} already has ${pathOf(other)}`);
      }
      plugins.push(route);
      return {
        [Symbol.dispose]() {
          const at = plugins.indexOf(route);
          if (at >= 0) plugins.splice(at, 1);
        },
      };
    },
  };
}

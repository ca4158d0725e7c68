import { SCOPES } from "../../protocol/index.ts";
import { checksFor } from "./arguments.ts";
import type { Binding } from "./binding.ts";
import type { HttpHandler, MethodRegistration, RouteRegistration } from "./kinds.ts";
import type { Owner } from "./owner.ts";
import type { Table } from "./table.ts";

const MEMBER = "api.registerHttpRoute";

/** Channels' own pages: documented to need the gateway's token whatever the plugin says. */
const CHANNEL_PAGES = /^\/api\/channels(?:\/|$)/;

export const needsGatewayToken = (path: string): boolean => CHANNEL_PAGES.test(path);

/** Puts a route on the gateway's port. Throws `CONFLICT` when the path is taken by the gateway or overlaps with another route. */
export type MountRoute = (owner: Owner, route: RouteRegistration) => Disposable;

/** Absolute, decoded, without dots, doubled slashes and a slash at the end: what the router compares with. */
function canonicalPath(given: string): string | undefined {
  const path = given.startsWith("/") ? given : `/${given}`;
  if (/[?#\\%]|\/\/|\/\.{1,2}(?:\/|$)|\s/.test(path)) return undefined;
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  if (/[\u0000-\u001F\u007F]/.test(path)) return undefined;
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Routes, where they are put, and how to take one away that its plugin replaces. */
export interface RouteBoard {
  readonly table: Table<RouteRegistration>;
  readonly mount: MountRoute;
  readonly placed: WeakMap<RouteRegistration, Disposable>;
}

/**
 * Registers a route. It must say who checks the caller: a route without `auth` is refused, so that no page is open by omission. `replaceExisting`
 * replaces a route of the same plugin, never one of another.
 */
export function registerHttpRoute({ ledger, scope, tell }: Binding, { table, mount, placed }: RouteBoard, given: unknown): void {
  const checks = checksFor(MEMBER);
  const route = checks.fields("route", given);
  const path = canonicalPath(checks.text("route.path", route["path"], 512));
  if (path === undefined) return checks.fail("route.path", "an absolute path without dots, blanks, % escapes, ? and #", route["path"]);
  const handler = scope.bind(checks.fn("route.handler", route["handler"]), `HTTP route ${path}`) as HttpHandler;
  const upgrade = checks.maybeFn("route.handleUpgrade", route["handleUpgrade"]);
  if (upgrade)
    tell(
      "warn",
      "route-upgrade",
      `the HTTP route ${path} asks for WebSocket upgrades, which this gateway does not support: its handler gets plain requests only`,
    );
  const match = route["match"] === undefined ? "exact" : checks.choice("route.match", route["match"], ["exact", "prefix"]);
  const declared = checks.choice("route.auth", route["auth"], ["gateway", "plugin"]);
  const forced = declared === "plugin" && needsGatewayToken(path);
  if (forced) tell("warn", "route-auth", `the HTTP route ${path} is below /api/channels, which needs the gateway's token: auth is "gateway", not "plugin"`);
  const value: RouteRegistration = {
    path,
    match,
    auth: forced ? "gateway" : declared,
    handler,
    ...(upgrade ? { handleUpgrade: scope.bind(upgrade, `HTTP route ${path}`) } : {}),
  };
  ledger.enter({
    kind: "http route",
    name: path,
    apply() {
      const before = route["replaceExisting"] === true ? table.get(path) : undefined;
      if (before?.owner.pluginId === ledger.owner.pluginId) placed.get(before.value)?.[Symbol.dispose]();
      using stack = new DisposableStack();
      stack.use(table.add(path, ledger.owner, value));
      stack.use(mount(ledger.owner, value));
      const kept = stack.move();
      const whole = { [Symbol.dispose]: () => kept.dispose() };
      placed.set(value, whole);
      return whole;
    },
  });
}

/** Registers a handler that is asked for every path that nothing else has; it answers true when it took the request. It checks its callers itself. */
export function registerHttpHandler(binding: Binding, table: Table<HttpHandler>, given: unknown): void {
  const { ledger, scope, nextNumber } = binding;
  const handler = scope.bind(checksFor("api.registerHttpHandler").fn("handler", given), "an HTTP handler") as HttpHandler;
  ledger.enter({ kind: "http handler", name: "(handler)", apply: () => table.add(`handler ${nextNumber()}`, ledger.owner, handler) });
}

const METHOD_NAME = /^[A-Za-z][\w.:-]{0,127}$/;

/** Registers a method of the gateway. Without a scope it needs `operator.admin`. */
export function registerGatewayMethod({ ledger, scope }: Binding, table: Table<MethodRegistration>, given: unknown, fn: unknown, options: unknown): void {
  const checks = checksFor("api.registerGatewayMethod");
  const method = checks.text("method", given, 128);
  if (!METHOD_NAME.test(method)) checks.fail("method", "a letter, then letters, digits, _ . : and -", given);
  const handler = scope.bind(checks.fn("handler", fn), `gateway method ${method}`);
  const asked = checks.options("options", options)["scope"];
  const access = asked === undefined ? "operator.admin" : checks.choice("options.scope", asked, SCOPES);
  ledger.enter({ kind: "gateway method", name: method, apply: () => table.add(method, ledger.owner, { method, access, handler }) });
}

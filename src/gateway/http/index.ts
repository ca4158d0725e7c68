/** HTTP on the gateway's port: one table of routes, one reading of the path, auth before bodies. The door of this folder. */
export { createHttpSurface, type HttpSurface, type HttpSurfaceDeps } from "./surface.ts";
export type { HttpAuth } from "./guard.ts";
export type { PluginRoute, Route, RouteMethod } from "./route.ts";

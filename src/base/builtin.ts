import type * as Http from "node:http";
import type * as Https from "node:https";

/**
 * Loads `node:http` cheaply. A static `import` touches every export, and a few of those are getters that load a whole fetch implementation:
 * 27 ms and 16 MB (measured on Node 26). Loaded this way it costs 3 ms and 3 MB.
 */
export const loadHttp = (): typeof Http => process.getBuiltinModule("node:http");

/** The same for `node:https`. */
export const loadHttps = (): typeof Https => process.getBuiltinModule("node:https");

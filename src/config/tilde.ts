import { expandHome } from "./paths.ts";
import { isObject } from "./value.ts";

const PATH_KEY = /(?:dir|path|paths|file|root|workspace)$/i;
const PATH_LISTS: ReadonlySet<string> = new Set(["paths", "pathPrepend"]);

/** Replaces a leading `~` in values whose key says that they are paths. */
export function expandPaths(value: unknown, home: string, key = "", inList = false): unknown {
  if (typeof value === "string") return value.startsWith("~") && (inList ? PATH_LISTS.has(key) : PATH_KEY.test(key)) ? expandHome(value, home) : value;
  if (Array.isArray(value)) return value.map((item) => expandPaths(item, home, key, true));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, expandPaths(child, home, name)]));
}

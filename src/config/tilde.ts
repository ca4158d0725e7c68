import { expandHome } from "./paths.ts";
import { mapValues } from "./value.ts";

const PATH_KEY = /(?:dir|path|paths|file|root|workspace)$/i;
const PATH_LISTS: ReadonlySet<string> = new Set(["paths", "pathPrepend"]);

/** Replaces a leading `~` in values whose key says that they are paths. */
export function expandPaths(value: unknown, home: string, key = "", inList = false): unknown {
  if (typeof value === "string") return value.startsWith("~") && (inList ? PATH_LISTS.has(key) : PATH_KEY.test(key)) ? expandHome(value, home) : value;
  return mapValues(value, (child, name) => (typeof name === "number" ? expandPaths(child, home, key, true) : expandPaths(child, home, name)));
}

/** Where the canvas is on the gateway's port. */
export const CANVAS_PREFIX = "/__openclaw__";
const SCOPED = /^\/__openclaw__\/cap\/([A-Za-z0-9_-]{20,100})(\/.*|$)/;

/** A path below the canvas prefix, without the capability that it may carry. */
export interface CanvasPath {
  /** As it would be without a capability: `/__openclaw__/canvas/index.html`. */
  readonly path: string;
  /** What stands before it: nothing, or `/__openclaw__/cap/<token>`. */
  readonly prefix: string;
  readonly token: string | undefined;
}

/** The prefix that carries a capability. */
export const scopedPrefix = (token: string): string => `${CANVAS_PREFIX}/cap/${token}`;

/** Reads a canonical path; a capability may also stand in the query as `oc_cap`. */
export function canvasPath(path: string, query: URLSearchParams): CanvasPath {
  const [, token, rest] = SCOPED.exec(path) ?? [];
  if (token !== undefined) return { path: rest === "" ? "/" : (rest ?? "/"), prefix: scopedPrefix(token), token };
  return { path, prefix: "", token: query.get("oc_cap") ?? undefined };
}

/** Addresses that the page's own canvas can show. */
export type CanvasTarget = { readonly kind: "file"; readonly path: string } | { readonly kind: "a2ui" };

const LOCAL = /^https?:\/\/[^/]+(?=\/__openclaw__\/)/i;

/**
 * What a text means as an address on the canvas: a path below the canvas folder, or A2UI. Undefined when it is an address elsewhere. Dot segments and
 * escapes are refused where the file is served; here they only have to stay below the canvas.
 */
export function canvasTarget(written: string): CanvasTarget | undefined {
  const text = written
    .trim()
    .replace(LOCAL, "")
    .replace(/^\/__openclaw__\/cap\/[^/]+(?=\/)/, "");
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(text) || text.includes("\\")) return undefined;
  if (/^\/__openclaw__\/a2ui(?:[/?#]|$)/.test(text)) return { kind: "a2ui" };
  const below = text.replace(/^\/__openclaw__\/canvas(?=\/|$)/, "").replace(/^\/+/, "");
  if (/^__openclaw__(?:\/|$)/.test(below) || below.split(/[/?#]/).includes("..")) return undefined;
  return { kind: "file", path: below };
}

import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { CATALOG } from "./catalog.ts";
import type { Component } from "./parse.ts";

/** Components inside of each other, and components that are drawn when each is drawn as often as others name it. */
export const MOST_DEPTH = 60;
export const MOST_DRAWN = 20_000;

const MOST_NAMED = 8;

/** Ids of the components that a component shows. */
function shownBy({ type, properties }: Component): readonly string[] {
  return Object.entries(CATALOG[type]?.properties ?? {}).flatMap(([name, kind]) => {
    const value = properties[name];
    if (kind === "id") return typeof value === "string" ? [value] : [];
    if (kind === "tabs")
      return Array.isArray(value) ? value.flatMap((tab: unknown) => (isRecord(tab) && typeof tab["child"] === "string" ? [tab["child"]] : [])) : [];
    if (kind !== "children") return [];
    if (Array.isArray(value)) return value.filter((id) => typeof id === "string");
    return isRecord(value) && typeof value["componentId"] === "string" ? [value["componentId"]] : [];
  });
}

/**
 * Throws when components contain each other, stand in each other too deeply, or are named so often that drawing them would never end: a few dozen
 * components can name each other a billion times.
 */
export function checkTree(components: ReadonlyMap<string, Component>, surfaceId: string): void {
  const sizes = new Map<string, { readonly drawn: number; readonly depth: number }>();
  const above: string[] = [];
  const fail = (what: string): AppError => new AppError("INVALID_INPUT", `the surface ${JSON.stringify(surfaceId)} cannot be drawn: ${what}`);

  function visit(id: string): { readonly drawn: number; readonly depth: number } {
    const known = sizes.get(id);
    if (known) return known;
    const component = components.get(id);
    if (!component) return { drawn: 0, depth: 0 };
    const from = above.indexOf(id);
    if (from >= 0) throw fail(`components contain each other (${[...above.slice(from).slice(-MOST_NAMED), id].join(" → ")}); expected a tree`);
    above.push(id);
    if (above.length > MOST_DEPTH) throw fail(`components are nested deeper than ${MOST_DEPTH}`);
    let [drawn, depth] = [1, 0];
    for (const child of shownBy(component)) {
      const inside = visit(child);
      drawn += inside.drawn;
      depth = Math.max(depth, inside.depth);
    }
    above.pop();
    if (depth + 1 > MOST_DEPTH) throw fail(`components are nested deeper than ${MOST_DEPTH}`);
    if (drawn > MOST_DRAWN) throw fail(`it would have more than ${MOST_DRAWN} components; name each of them once`);
    const size = { drawn, depth: depth + 1 };
    sizes.set(id, size);
    return size;
  }
  for (const id of components.keys()) visit(id);
}

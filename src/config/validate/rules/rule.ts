import type { Issue, Path } from "../issue.ts";
import { isObject, valueAt as follow } from "../../value.ts";
import type { ConfigSections } from "../../json-schema.ts";

/**
 * Something that a schema cannot say: how keys must fit together. Rules run on any value, also on one with schema issues, so they look
 * at nothing whose type they have not checked.
 */
export type Rule = (config: Readonly<Record<string, unknown>>, sections: ConfigSections) => Iterable<Issue>;

/** A value and where it stands. */
export interface Placed<T> {
  readonly path: Path;
  readonly value: T;
}

export const valueAt = (value: unknown, ...path: Path): unknown => follow(value, path);

export function objectAt(value: unknown, ...path: Path): Record<string, unknown> | undefined {
  const found = valueAt(value, ...path);
  return isObject(found) ? found : undefined;
}

/** Items of the list at `path`; nothing when there is no list. */
export function* itemsAt(value: unknown, ...path: Path): Generator<Placed<unknown>> {
  const found = valueAt(value, ...path);
  if (!Array.isArray(found)) return;
  for (const [index, item] of found.entries()) yield { path: [...path, index], value: item };
}

/** Values of the object at `path`; nothing when there is no object. */
export function* entriesAt(value: unknown, ...path: Path): Generator<Placed<unknown> & { readonly key: string }> {
  const found = valueAt(value, ...path);
  if (!isObject(found)) return;
  for (const [key, entry] of Object.entries(found)) yield { key, path: [...path, key], value: entry };
}

/** The defaults of agents and every agent of the list: what may stand in both places. */
export function* agentScopes(config: unknown): Generator<Placed<Record<string, unknown>>> {
  const defaults = objectAt(config, "agents", "defaults");
  if (defaults) yield { path: ["agents", "defaults"], value: defaults };
  for (const { path, value } of itemsAt(config, "agents", "list")) if (isObject(value)) yield { path, value };
}

/** Agent ids as they are compared: without outer blanks, in lower case. */
export const agentKey = (id: string): string => id.trim().toLowerCase();

/** Ids of the configured agents; a gateway without a list has one called `main`. */
export function agentIds(config: unknown): { readonly ids: ReadonlySet<string>; readonly isListed: boolean } {
  const listed = [...itemsAt(config, "agents", "list")].map(({ value }) => valueAt(value, "id")).filter((id) => typeof id === "string");
  return listed.length > 0 ? { ids: new Set(listed.map(agentKey)), isListed: true } : { ids: new Set(["main"]), isListed: false };
}

/** True for a secret that is there: some text, or a reference to one. */
export const isGiven = (value: unknown): boolean => (typeof value === "string" ? value.trim() !== "" : isObject(value));

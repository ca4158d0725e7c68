import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import type { A2uiMessage, Component } from "./parse.ts";
import { checkTree } from "./tree.ts";

/** A surface: its components and its data. */
export interface Surface {
  readonly id: string;
  /** The component to begin with; undefined while it may not be rendered yet. */
  root: string | undefined;
  color: string | undefined;
  readonly components: Map<string, Component>;
  data: unknown;
}

/** Surfaces as messages made them. */
export interface A2uiModel {
  readonly surfaces: ReadonlyMap<string, Surface>;
  /** Throws `INVALID_INPUT` and changes nothing of what the failing message is about. */
  apply(messages: readonly A2uiMessage[]): void;
  /** Writes to a surface's data, as an input does. */
  write(surfaceId: string, path: string, value: unknown): void;
  reset(): void;
  /** Messages that make the same surfaces. */
  toMessages(): readonly A2uiMessage[];
}

const MOST_SURFACES = 50;
const MOST_COMPONENTS = 5000;
const MOST_DATA = 1_000_000;
const UNSAFE = new Set(["__proto__", "constructor", "prototype"]);

const segmentsOf = (path: string): readonly string[] =>
  path
    .split("/")
    .filter((part) => part !== "")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));

/** A path in a scope: one that begins with `/` is meant from the top. */
export const absolutePath = (path: string, scope: string): string => (path.startsWith("/") ? path : `${scope.replace(/\/$/, "")}/${path}`);

/** What is at a path; undefined when nothing is. */
export function readPath(data: unknown, path: string): unknown {
  let at: unknown = data;
  for (const part of segmentsOf(path)) {
    if ((!isRecord(at) && !Array.isArray(at)) || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

/** Data with another value at a path; without a value, without what is there. What is on the way is made. */
function withPath(data: unknown, parts: readonly string[], change: { readonly value?: unknown }): unknown {
  const [part, ...rest] = parts;
  if (part === undefined) return Object.hasOwn(change, "value") ? change.value : {};
  if (UNSAFE.has(part)) throw new AppError("INVALID_INPUT", `a path may not contain ${JSON.stringify(part)}`);
  const list = Array.isArray(data) && /^\d{1,6}$/.test(part);
  const copy: Record<string, unknown> | unknown[] = list ? [...(data as unknown[])] : { ...(isRecord(data) ? data : {}) };
  const own = copy as Record<string, unknown>;
  if (rest.length === 0 && !Object.hasOwn(change, "value")) {
    if (list) (copy as unknown[]).splice(Number(part), 1);
    else delete own[part];
  } else own[part] = withPath(Object.hasOwn(own, part) ? own[part] : undefined, rest, change);
  return copy;
}

function checkSize(data: unknown, surfaceId: string): void {
  const { length } = JSON.stringify(data ?? null);
  if (length > MOST_DATA) throw new AppError("INVALID_INPUT", `expected at most ${MOST_DATA} characters of data on the surface ${surfaceId}, got ${length}`);
}

/** Values that inputs begin with. */
function* initials(component: Component): Generator<{ readonly path: string; readonly initial: unknown }> {
  for (const value of Object.values(component.properties)) {
    const { path, initial } = isRecord(value) ? value : {};
    if (typeof path === "string" && path.startsWith("/") && initial !== undefined) yield { path, initial };
  }
}

function dataAfter(surface: Surface, message: Extract<A2uiMessage, { kind: "data" }>): unknown {
  const parts = segmentsOf(message.path);
  if (!Object.hasOwn(message, "value")) return withPath(surface.data, parts, {});
  const before = readPath(surface.data, message.path);
  const value = message.merge && isRecord(message.value) && isRecord(before) ? { ...before, ...message.value } : message.value;
  return withPath(surface.data, parts, { value });
}

export function createA2uiModel(): A2uiModel {
  const surfaces = new Map<string, Surface>();

  function surfaceFor(surfaceId: string, isKnown: boolean): Surface {
    const known = surfaces.get(surfaceId);
    if (known) return known;
    if (isKnown) throw new AppError("INVALID_INPUT", `there is no surface ${JSON.stringify(surfaceId)}; send createSurface first`);
    if (surfaces.size >= MOST_SURFACES) throw new AppError("INVALID_INPUT", `there are already ${MOST_SURFACES} surfaces, the maximum; delete one of them`);
    const made: Surface = { id: surfaceId, root: undefined, color: undefined, components: new Map(), data: {} };
    surfaces.set(surfaceId, made);
    return made;
  }

  function applyOne(message: A2uiMessage): void {
    if (message.kind === "delete") return void surfaces.delete(message.surfaceId);
    const surface = surfaceFor(message.surfaceId, message.kind !== "create" && message.isKnown === true);
    if (message.kind === "create") {
      surface.root = message.root;
      surface.color = message.color ?? surface.color;
    } else if (message.kind === "data") {
      const data = dataAfter(surface, message);
      checkSize(data, surface.id);
      surface.data = data;
    } else {
      const all = new Map([...surface.components, ...message.components.map((component) => [component.id, component] as const)]);
      if (all.size > MOST_COMPONENTS) throw new AppError("INVALID_INPUT", `expected at most ${MOST_COMPONENTS} components on the surface ${surface.id}`);
      checkTree(all, surface.id);
      for (const component of message.components) {
        surface.components.set(component.id, component);
        for (const { path, initial } of initials(component))
          if (readPath(surface.data, path) === undefined) surface.data = withPath(surface.data, segmentsOf(path), { value: initial });
      }
    }
  }

  return {
    surfaces,
    apply: (messages) => messages.forEach(applyOne),
    write(surfaceId, path, value) {
      const surface = surfaces.get(surfaceId);
      if (surface) surface.data = withPath(surface.data, segmentsOf(path), { value });
    },
    reset: () => surfaces.clear(),
    toMessages: () =>
      [...surfaces.values()].flatMap(({ id, root, color, components, data }): readonly A2uiMessage[] => [
        ...(components.size === 0 ? [] : [{ kind: "components" as const, surfaceId: id, components: [...components.values()] }]),
        { kind: "data", surfaceId: id, path: "/", value: data },
        ...(root === undefined ? [] : [{ kind: "create" as const, surfaceId: id, root, ...(color === undefined ? {} : { color }) }]),
      ]),
  };
}

import { AppError } from "../../base/errors.ts";
import { isObject, valueAt, withoutPath, withValue } from "../../config/index.ts";

/** What may be given or changed of an agent. */
export interface AgentFields {
  readonly name?: string | undefined;
  /** Absolute. */
  readonly workspace?: string | undefined;
  readonly model?: string | undefined;
  /** Absolute. */
  readonly agentDir?: string | undefined;
  /** Of its identity; an empty one is taken away. */
  readonly emoji?: string | undefined;
  readonly avatar?: string | undefined;
  readonly theme?: string | undefined;
  readonly identityName?: string | undefined;
  /** Further keys, as a template has them. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
}

const LIST = ["agents", "list"] as const;
/** The agent that is there when no list names one. */
const IMPLIED = "main";

export const refused = (message: string): AppError => new AppError("INVALID_INPUT", message);
export const alreadyExists = (id: string): AppError => refused(`agent "${id}" already exists`);
export const notFound = (id: string): AppError => refused(`agent "${id.slice(0, 80)}" not found`);

/** The id of an agent that is called so: lower case letters, digits, `_` and `-`. */
export function idFromName(name: string): string {
  const id = name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "-")
    .replaceAll(/^[-_]+/g, "")
    .slice(0, 64)
    .replaceAll(/-+$/g, "");
  if (id === "") throw refused(`the name "${name.slice(0, 80)}" cannot be made into an id: it needs a letter from a to z or a digit`);
  if (id === IMPLIED) throw refused(`"${IMPLIED}" is reserved`);
  return id;
}

const itemsAt = (written: unknown, path: readonly string[]): readonly unknown[] => {
  const value = valueAt(written, path);
  return Array.isArray(value) ? value : [];
};
const isCalled = (value: unknown, id: string): boolean => typeof value === "string" && value.trim().toLowerCase() === id;
const indexOf = (list: readonly unknown[], id: string): number => list.findIndex((agent) => isCalled(valueAt(agent, ["id"]), id));

const put = (value: unknown, path: readonly (string | number)[], next: unknown): unknown => withValue(value, path, next)?.value ?? value;

function withFields(agent: unknown, fields: AgentFields): unknown {
  const { name, workspace, agentDir, model, emoji, avatar, theme, identityName, settings = {} } = fields;
  let next = agent;
  for (const [key, value] of Object.entries({ name, workspace, agentDir })) if (value !== undefined) next = put(next, [key], value);
  // Fallbacks that stand beside the model stay.
  if (model !== undefined) next = put(next, isObject(valueAt(next, ["model"])) ? ["model", "primary"] : ["model"], model);
  for (const [key, value] of Object.entries({ name: identityName, theme, emoji, avatar })) {
    if (value === undefined) continue;
    next = value.trim() === "" ? withoutPath(next, ["identity", key]) : put(next, ["identity", key], value.trim());
  }
  for (const [key, value] of Object.entries(settings)) next = put(next, [key], value);
  return next;
}

/** The configuration with one more agent. The one that was there without being listed is listed first, so that it stays the default. */
export function withAgent(written: unknown, id: string, fields: AgentFields): unknown {
  const list = itemsAt(written, LIST);
  if (indexOf(list, id) >= 0) throw alreadyExists(id);
  const before = list.length > 0 ? list : [{ id: IMPLIED }];
  return put(written, LIST, [...before, withFields({ id }, fields)]);
}

/** The configuration with an agent changed; one that is there without being listed gets listed. */
export function withChangedAgent(written: unknown, id: string, fields: AgentFields): unknown {
  const list = itemsAt(written, LIST);
  const at = indexOf(list, id);
  if (at >= 0) return put(written, [...LIST, at], withFields(list[at], fields));
  if (list.length > 0 || id !== IMPLIED) throw notFound(id);
  return put(written, LIST, [withFields({ id }, fields)]);
}

export interface WithoutAgent {
  readonly value: unknown;
  readonly removedBindings: number;
  /** Entries of `tools.agentToAgent.allow`. */
  readonly removedAllow: number;
}

/** The configuration without an agent and what leads to it: bindings, broadcasts, and the right of others to write to it. */
export function withoutAgent(written: unknown, id: string): WithoutAgent {
  const list = itemsAt(written, LIST);
  if (indexOf(list, id) < 0) throw notFound(id);
  let value = put(
    written,
    LIST,
    list.filter((agent) => !isCalled(valueAt(agent, ["id"]), id)),
  );
  const bindings = itemsAt(written, ["bindings"]);
  const kept = bindings.filter((binding) => !isCalled(valueAt(binding, ["agentId"]), id));
  if (kept.length < bindings.length) value = put(value, ["bindings"], kept);
  const broadcast = valueAt(written, ["broadcast"]);
  const chats = isObject(broadcast) ? Object.keys(broadcast).map((chat) => ["broadcast", chat]) : [];
  let removedAllow = 0;
  for (const path of [...chats, ["tools", "agentToAgent", "allow"]]) {
    const named = itemsAt(value, path);
    const others = named.filter((one) => !isCalled(one, id));
    if (others.length === named.length) continue;
    if (path[0] === "tools") removedAllow = named.length - others.length;
    value = others.length === 0 && path[0] === "broadcast" ? withoutPath(value, path) : put(value, path, others);
  }
  return { value, removedBindings: bindings.length - kept.length, removedAllow };
}

/** The configuration with these bindings after those it has. */
export function withBindings(written: unknown, bindings: readonly unknown[]): unknown {
  return bindings.length === 0 ? written : put(written, ["bindings"], [...itemsAt(written, ["bindings"]), ...bindings]);
}

/** The configuration without the bindings at these positions. */
export function withoutBindings(written: unknown, positions: ReadonlySet<number>): unknown {
  const left = itemsAt(written, ["bindings"]).filter((_, index) => !positions.has(index));
  return left.length === 0 ? withoutPath(written, ["bindings"]) : put(written, ["bindings"], left);
}

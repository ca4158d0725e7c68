import { AppError } from "../../../base/errors.ts";
import { isObject, valueAt, withoutPath, withValue } from "../../../config/index.ts";

/** What may be given or changed of an agent. */
export interface AgentFields {
  readonly name?: string | undefined;
  /** Absolute. */
  readonly workspace?: string | undefined;
  readonly model?: string | undefined;
  /** An empty one is taken away. */
  readonly emoji?: string | undefined;
  readonly avatar?: string | undefined;
}

const LIST = ["agents", "list"] as const;
/** The agent that is there when no list names one. */
const IMPLIED = "main";

const refused = (message: string): AppError => new AppError("INVALID_INPUT", message);
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
  if (id === "") throw refused(`the name "${name.slice(0, 80)}" gives no id: it needs a letter from a to z or a digit`);
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

function withFields(agent: unknown, { name, workspace, model, emoji, avatar }: AgentFields): unknown {
  let next = agent;
  if (name !== undefined) next = put(next, ["name"], name);
  if (workspace !== undefined) next = put(next, ["workspace"], workspace);
  // Fallbacks that stand beside the model stay.
  if (model !== undefined) next = put(next, isObject(valueAt(next, ["model"])) ? ["model", "primary"] : ["model"], model);
  for (const [key, value] of Object.entries({ emoji, avatar })) {
    if (value === undefined) continue;
    next = value.trim() === "" ? withoutPath(next, ["identity", key]) : put(next, ["identity", key], value.trim());
  }
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

/** The configuration without an agent and what leads to it: bindings, broadcasts, and the right of others to write to it. */
export function withoutAgent(written: unknown, id: string): { readonly value: unknown; readonly removedBindings: number } {
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
  for (const path of [...chats, ["tools", "agentToAgent", "allow"]]) {
    const named = itemsAt(value, path);
    const others = named.filter((one) => !isCalled(one, id));
    if (others.length === named.length) continue;
    value = others.length === 0 && path[0] === "broadcast" ? withoutPath(value, path) : put(value, path, others);
  }
  return { value, removedBindings: bindings.length - kept.length };
}

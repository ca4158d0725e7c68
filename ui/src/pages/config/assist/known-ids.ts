import type { Link } from "../../../link/link.ts";
import { isFields, valueAt, type ValuePath } from "../model/path.ts";

export type IdKind = "agent" | "model" | "channel" | "tool" | "account";

/** Ids that a gateway knows, each with a word about it. */
export type KnownIds = Readonly<Record<Exclude<IdKind, "account">, readonly { readonly id: string; readonly about: string }[]>>;

export const NO_IDS: KnownIds = { agent: [], model: [], channel: [], tool: [] };

const MOST_IDS = 2000;
const TOOL_LISTS = /^(?:allow|alsoAllow|deny)$/;
const KEYS: Readonly<Record<string, IdKind>> = {
  agentId: "agent",
  agent: "agent",
  allowAgents: "agent",
  agentFilter: "agent",
  model: "model",
  imageModel: "model",
  primary: "model",
  fallbacks: "model",
  channel: "channel",
  channels: "channel",
  accountId: "account",
};

/** What a text at a path names, as far as its key says so. */
export function idKindAt(path: ValuePath): IdKind | undefined {
  const keys = path.filter((part) => typeof part === "string");
  const [key = "", above = "", over = ""] = keys.toReversed();
  if (TOOL_LISTS.test(key) && above === "agentToAgent") return "agent";
  if (TOOL_LISTS.test(key)) return [above, over].includes("tools") ? "tool" : undefined;
  if (keys[0] === "broadcast" && keys.length === 2) return "agent";
  if (key === "primary" || key === "fallbacks") return /model/i.test(above) ? "model" : undefined;
  return KEYS[key];
}

/** What the keys of a map name: `agents.defaults.models` is by model. */
export function keyKindAt(path: ValuePath): IdKind | undefined {
  const [key, above] = path.toReversed();
  return key === "models" && (above === "defaults" || path.includes("list")) ? "model" : undefined;
}

const textsIn = (value: unknown, key: string): readonly string[] =>
  (Array.isArray(value) ? (value as readonly unknown[]) : []).flatMap((item) => (isFields(item) && typeof item[key] === "string" ? [item[key]] : []));

/** Ids that the edited text itself has: an agent that was added a line above is known at once. */
export function idsInText(value: unknown, kind: IdKind, path: ValuePath): readonly string[] {
  if (kind === "agent") return textsIn(valueAt(value, ["agents", "list"]), "id");
  const channels = valueAt(value, ["channels"]);
  if (kind === "channel") return isFields(channels) ? Object.keys(channels).filter((id) => id !== "defaults") : [];
  if (kind === "account") {
    const channel = valueAt(value, [...path.slice(0, -1), "channel"]);
    const ids = isFields(channels)
      ? [channel].flatMap((id) =>
          typeof id === "string" ? [valueAt(channels, [id, "accounts"])] : Object.values(channels).map((one) => valueAt(one, ["accounts"])),
        )
      : [];
    return [...new Set(ids.flatMap((accounts) => (isFields(accounts) ? Object.keys(accounts) : [])))];
  }
  if (kind !== "model") return [];
  const providers = valueAt(value, ["models", "providers"]);
  return isFields(providers)
    ? Object.entries(providers).flatMap(([id, provider]) => textsIn(valueAt(provider, ["models"]), "id").map((model) => `${id}/${model}`))
    : [];
}

/** Asks the gateway, and passes on what it answers as it comes: tools take it longer than agents. What it does not answer is left out. */
export function askIds(link: Pick<Link, "request">, found: (part: Partial<KnownIds>) => void): void {
  const pass = <T>(asked: Promise<T>, part: (answer: T) => Partial<KnownIds>): void =>
    void asked.then(
      (answer) => found(part(answer)),
      () => undefined,
    );
  pass(link.request("agents.list", {}), ({ agents }) => ({ agent: agents.slice(0, MOST_IDS).map(({ id, name }) => ({ id, about: name ?? "" })) }));
  pass(link.request("models.list", {}), ({ models }) => ({
    model: models.slice(0, MOST_IDS).map(({ id, provider, name }) => ({ id: `${provider}/${id}`, about: name })),
  }));
  pass(link.request("channels.status", {}), ({ channelOrder, channelLabels }) => ({
    channel: channelOrder.slice(0, MOST_IDS).map((id) => ({ id, about: channelLabels[id] ?? "" })),
  }));
  pass(link.request("tools.catalog", {}), ({ tools }) => ({
    tool: tools.slice(0, MOST_IDS).map(({ name, description }) => ({ id: name, about: description })),
  }));
}

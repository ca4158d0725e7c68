import { isObject } from "../../value.ts";
import { withSuggestion, type Issue, type Path } from "../issue.ts";
import { BUNDLED_SKILLS, ID_PREFIXES, NODE_COMMANDS, PROVIDERS, nameTable, type KnownNames, type NameTable } from "../known-names.ts";
import { quoted } from "../words.ts";
import { agentIds, agentKey, agentScopes, entriesAt, itemsAt, objectAt, valueAt, type Placed, type Rule } from "./rule.ts";

/** A list of names of tools. */
interface ToolList extends Placed<readonly unknown[]> {
  /** What stands in it is taken away: an entry that means nothing leaves open what was to be closed. */
  readonly denies: boolean;
}

const LISTS = ["allow", "alsoAllow", "deny"] as const;

function* listsOf(policy: unknown, path: Path): Generator<ToolList> {
  for (const list of LISTS) {
    const value = isObject(policy) ? policy[list] : undefined;
    if (Array.isArray(value)) yield { path: [...path, list], value, denies: list === "deny" };
  }
}

/** Channels have policies in groups, chat rooms and senders, wherever their plugin puts them. */
function* channelLists(value: unknown, path: Path): Generator<ToolList> {
  if (!isObject(value)) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === "tools") yield* listsOf(child, [...path, key]);
    else if (key === "toolsBySender" && isObject(child)) {
      for (const [sender, policy] of Object.entries(child)) yield* listsOf(policy, [...path, key, sender]);
    } else yield* channelLists(child, [...path, key]);
  }
}

/** Every place in which tools are named. */
function* toolLists(config: Readonly<Record<string, unknown>>): Generator<ToolList> {
  const scopes: Path[] = [["tools"], ...[...itemsAt(config, "agents", "list")].map(({ path }) => [...path, "tools"])];
  for (const path of scopes) {
    const scope = objectAt(config, ...path);
    if (!scope) continue;
    yield* listsOf(scope, path);
    for (const entry of entriesAt(config, ...path, "byProvider")) yield* listsOf(entry.value, entry.path);
    for (const part of ["subagents", "sandbox"]) yield* listsOf(valueAt(scope, part, "tools"), [...path, part, "tools"]);
  }
  yield* listsOf(valueAt(config, "gateway", "tools"), ["gateway", "tools"]);
  yield* channelLists(config["channels"], ["channels"]);
  for (const { path, value } of agentScopes(config)) {
    // What is pruned from a context is no matter of rights.
    const at = ["contextPruning", "tools"];
    for (const list of listsOf(valueAt(value, ...at), [...path, ...at])) yield { ...list, denies: false };
  }
}

/** Patterns have `*` for any text. Without a regular expression, so that no pattern can be slow. */
function fits(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

function unknown(path: Path, message: string, near: readonly [string, Iterable<string>], severity: Issue["severity"]): Issue {
  return { ...withSuggestion(message, ...near), path, code: "unknown-name", severity };
}

/** Which unknown names are issues: all, those of deny lists that are nearly a known one, or none. */
type Judged = "all" | "slips" | "none";

function toolIssue(entry: string, path: Path, { groups, tools }: NameTable, { denies, judged }: { denies: boolean; judged: Judged }): Issue | undefined {
  const name = entry.trim().toLowerCase();
  const severity = denies ? "error" : "warning";
  const so = denies ? ", so this denies nothing" : "";
  if (name === "") return { path, message: `expected the name of a tool, found an empty text${so}`, code: "unknown-name", severity };
  if (name === "*" || tools.has(name) || groups.has(name)) return undefined;
  if (name.startsWith("group:") && !name.includes("*")) return unknown(path, `no group of tools is called ${quoted(entry)}${so}`, [name, groups], severity);
  // A plugin may provide it: checked where plugins are known.
  if (judged === "none" || (judged === "slips" && !denies)) return undefined;
  if (name.includes("*"))
    return judged === "slips" || [...tools].some((tool) => fits(name, tool))
      ? undefined
      : unknown(path, `no tool fits ${quoted(entry)}${so}`, [name.replaceAll("*", ""), tools], severity);
  const issue = unknown(path, `no tool, group or plugin is called ${quoted(entry)}${so}`, [name, [...tools, ...groups]], severity);
  return judged === "all" || issue.suggestion !== undefined ? issue : undefined;
}

/** Names of tools and groups that mean nothing. Only groups are judged when it is not known what plugins bring; slips in deny lists once those that run have registered. */
export const toolsExist: Rule = function* (config, { names }) {
  const table = nameTable(config, names);
  const judged: Judged = names?.complete ? "all" : names?.registered ? "slips" : "none";
  for (const { path, value, denies } of toolLists(config)) {
    for (const [index, entry] of value.entries()) {
      const issue = typeof entry === "string" ? toolIssue(entry, [...path, index], table, { denies, judged }) : undefined;
      if (issue) yield issue;
    }
  }
};

/** A plugin that was to be kept out and is not named right comes in. */
export const deniedPluginsExist: Rule = function* (config, { names }) {
  const judged = names?.plugins !== undefined || names?.complete === true;
  const { plugins } = nameTable(config, names);
  for (const list of ["deny", "disabled"]) {
    for (const { path, value } of itemsAt(config, "plugins", list)) {
      if (typeof value === "string" && value.trim() === "")
        yield { path, message: "expected the id of a plugin, found an empty text, so this blocks nothing", code: "unknown-plugin", severity: "error" };
      if (!judged || (typeof value === "string" && value.trim() === "")) continue;
      if (typeof value !== "string" || plugins.has(value.trim().toLowerCase())) continue;
      yield { ...unknown(path, `plugin not found: ${quoted(value)}, so this blocks nothing`, [value, plugins], "error"), code: "unknown-plugin" };
    }
  }
};

/** Commands of nodes are compared as a whole. Nodes bring their own, so an unknown name is a mistake only where it is nearly a known one or can be none. */
export const deniedCommandsExist: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "gateway", "nodes", "denyCommands")) {
    const name = typeof value === "string" ? value.trim() : undefined;
    if (name === undefined || NODE_COMMANDS.has(name)) continue;
    const issue = unknown(path, `no command of a node is called ${quoted(name)}, so this denies nothing`, [name, NODE_COMMANDS], "error");
    const canBeNone = !/^[\w.-]+$/.test(name);
    if (canBeNone) yield { ...issue, message: `${issue.message}: commands are listed one by one, without patterns or arguments` };
    else if (issue.suggestion !== undefined) yield issue;
  }
};

/** Agents in lists that have no rule of their own. */
export const namedAgentsExist: Rule = function* (config) {
  const { ids } = agentIds(config);
  const lists: Path[] = [
    ["tools", "agentToAgent", "allow"],
    ["approvals", "exec", "agentFilter"],
  ];
  for (const { path } of agentScopes(config)) lists.push([...path, "subagents", "allowAgents"]);
  for (const list of lists) {
    for (const { path, value } of itemsAt(config, ...list)) {
      if (typeof value !== "string" || value.includes("*") || ids.has(agentKey(value))) continue;
      yield unknown(path, `no agent has the id ${quoted(value)}`, [agentKey(value), ids], "warning");
    }
  }
};

/** Models of a provider that is known from its own list alone: what the list does not have would only fail at the first message. */
export const chosenModelsExist: Rule = function* (config) {
  for (const scope of agentScopes(config)) {
    for (const key of ["model", "imageModel"]) {
      const chosen = valueAt(scope.value, key);
      const named: Placed<unknown>[] = [
        { path: [...scope.path, key], value: chosen },
        { path: [...scope.path, key, "primary"], value: valueAt(chosen, "primary") },
        ...itemsAt(config, ...scope.path, key, "fallbacks"),
      ];
      for (const { path, value } of named) {
        const [provider = "", ...rest] = typeof value === "string" ? value.trim().split("/") : [];
        const id = rest.join("/");
        const listed = [...itemsAt(config, "models", "providers", provider, "models")].map((model) => valueAt(model.value, "id")).filter(isText);
        if (id === "" || listed.length === 0 || listed.includes(id) || PROVIDERS.includes(provider.toLowerCase())) continue;
        yield unknown(path, `models.providers.${provider}.models has no model ${quoted(id)}`, [id, listed], "warning");
      }
    }
  }
};

const isText = (value: unknown): value is string => typeof value === "string";

/** Skills that a list of bundled ones names. */
export const bundledSkillsExist: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "skills", "allowBundled")) {
    if (typeof value !== "string" || BUNDLED_SKILLS.has(value.trim().toLowerCase())) continue;
    yield unknown(path, `no bundled skill is called ${quoted(value)}`, [value.trim().toLowerCase(), BUNDLED_SKILLS], "warning");
  }
};

/** Presets of webhooks. All but `gmail` need a secret, and so a mapping: another rule says so. */
const HOOK_PRESETS = ["gmail", "github", "stripe", "slack"];

export const hookPresetsExist: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "hooks", "presets")) {
    if (typeof value !== "string" || HOOK_PRESETS.includes(value.trim().toLowerCase())) continue;
    yield unknown(path, `no preset of webhooks is called ${quoted(value)}`, [value.trim().toLowerCase(), HOOK_PRESETS], "warning");
  }
};

/** People who are named as `channel:id`, or by a bare id. */
function* namedSenders(config: Readonly<Record<string, unknown>>): Generator<Placed<unknown>> {
  yield* itemsAt(config, "commands", "ownerAllowFrom");
  const maps: Path[] = [
    ["commands", "allowFrom"],
    ["session", "identityLinks"],
    ["tools", "elevated", "allowFrom"],
    ...[...itemsAt(config, "agents", "list")].map(({ path }) => [...path, "tools", "elevated", "allowFrom"]),
  ];
  for (const map of maps) for (const { path } of entriesAt(config, ...map)) yield* itemsAt(config, ...path);
}

/** Senders that nobody can be: an empty text, or one of a channel that there is not. */
export const namedSendersExist: Rule = function* (config, { names }) {
  const { channels } = nameTable(config, names);
  for (const { path, value } of namedSenders(config)) {
    if (typeof value !== "string") continue;
    if (value.trim() === "") yield { path, message: "expected a sender, found an empty text, which matches nobody", code: "unknown-name", severity: "warning" };
    const prefix = /^([a-z][a-z0-9_-]*):./i.exec(value.trim())?.[1]?.toLowerCase();
    if (!names || prefix === undefined || channels.has(prefix) || ID_PREFIXES.has(prefix)) continue;
    yield unknown(path, `no channel is called ${quoted(prefix)}, so ${quoted(value)} matches nobody`, [prefix, channels], "warning");
  }
};

/** Channels and providers where they are only named. Plugins bring both, so it is never more than a remark. */
export const namedPartnersExist: Rule = function* (config, { names }) {
  if (!names) return;
  const { channels, providers } = nameTable(config, names);
  for (const { path, key } of namedChannels(config)) {
    if (key === "*" || channels.has(key.trim().toLowerCase())) continue;
    yield unknown(path, `no channel is called ${quoted(key)}`, [key.trim().toLowerCase(), channels], "warning");
  }
  for (const { path, key } of [...namedProviders(config), ...toolModels(config)]) {
    const [provider = ""] = key.trim().toLowerCase().split(/\s*\//);
    if (provider !== "" && !providers.has(provider)) yield unknown(path, `no provider is called ${quoted(provider)}`, [provider, providers], "warning");
  }
};

/** Sections of a channel whose name is nearly that of one there is: nothing reads them. */
export const configuredChannelsExist: Rule = function* (config, { names }) {
  if (!names) return;
  const { channels } = nameTable({}, names);
  for (const { path, key } of entriesAt(config, "channels")) {
    if (key === "defaults" || channels.has(key.trim().toLowerCase())) continue;
    const issue = unknown(path, `no channel is called ${quoted(key)}, so nothing reads this`, [key.trim().toLowerCase(), channels], "warning");
    if (issue.suggestion !== undefined) yield issue;
  }
};

interface Named {
  readonly path: Path;
  readonly key: string;
}

function* namedChannels(config: Readonly<Record<string, unknown>>): Generator<Named> {
  for (const [list, at] of [
    [["bindings"], ["match", "channel"]],
    [
      ["session", "sendPolicy", "rules"],
      ["match", "channel"],
    ],
  ] as const) {
    for (const { path, value } of itemsAt(config, ...list)) {
      const key = valueAt(value, ...at);
      if (typeof key === "string") yield { path: [...path, ...at], key };
    }
  }
  const maps: Path[] = [
    ["commands", "allowFrom"],
    ["tools", "elevated", "allowFrom"],
  ];
  for (const { path } of itemsAt(config, "agents", "list")) maps.push([...path, "tools", "elevated", "allowFrom"]);
  for (const map of maps) for (const { path, key } of entriesAt(config, ...map)) yield { path, key };
}

function* namedProviders(config: Readonly<Record<string, unknown>>): Generator<Named> {
  const maps: Path[] = [
    ["tools", "byProvider"],
    ["auth", "order"],
  ];
  for (const { path } of itemsAt(config, "agents", "list")) maps.push([...path, "tools", "byProvider"]);
  for (const map of maps) for (const { path, key } of entriesAt(config, ...map)) yield { path, key };
  for (const { path, value } of agentScopes(config)) {
    for (const part of [["model"], ["imageModel"], ["imageGenerationModel"], ["subagents", "model"]]) {
      const chosen = valueAt(value, ...part);
      const at = [...path, ...part];
      const refs: readonly Placed<unknown>[] = typeof chosen === "string" ? [{ path: at, value: chosen }] : modelRefs(config, at);
      for (const ref of refs) if (typeof ref.value === "string" && ref.value.includes("/")) yield { path: ref.path, key: ref.value };
    }
  }
}

/** Models that may use a tool. */
function* toolModels(config: Readonly<Record<string, unknown>>): Generator<Named> {
  const scopes: Path[] = [["tools"], ...[...itemsAt(config, "agents", "list")].map(({ path }) => [...path, "tools"])];
  for (const scope of scopes) {
    for (const { path, value } of itemsAt(config, ...scope, "exec", "applyPatch", "allowModels")) {
      if (typeof value === "string" && /^[^/*]*\//.test(value)) yield { path, key: value };
    }
  }
}

function modelRefs(config: unknown, at: Path): readonly Placed<unknown>[] {
  return [{ path: [...at, "primary"], value: valueAt(config, ...at, "primary") }, ...itemsAt(config, ...at, "fallbacks")];
}

/** All names in use, for a check once the existing ones are known. */
export function nameIssues(config: unknown, names: KnownNames): Issue[] {
  if (!isObject(config)) return [];
  return [toolsExist, deniedPluginsExist, namedPartnersExist, namedSendersExist].flatMap((rule) => [...rule(config, { names })]);
}

/** True when a list has a name that only a plugin could explain. */
export const hasUnexplainedNames = (config: unknown): boolean => nameIssues(config, { complete: true }).length > 0;

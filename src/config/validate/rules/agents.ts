import { ruleIssue, withSuggestion, type Issue } from "../issue.ts";
import { isAgentId } from "../../../base/session-name.ts";
import { quoted } from "../words.ts";
import { agentIds, agentKey, entriesAt, itemsAt, objectAt, valueAt, type Rule } from "./rule.ts";

export const uniqueAgentIds: Rule = function* (config) {
  const seen = new Map<string, number>();
  for (const [index, { path, value }] of [...itemsAt(config, "agents", "list")].entries()) {
    const id = valueAt(value, "id");
    if (typeof id !== "string") continue;
    const first = seen.get(agentKey(id));
    if (first === undefined) seen.set(agentKey(id), index);
    else yield ruleIssue([...path, "id"], `the agent id ${quoted(id)} is taken by agents.list[${first}]; give each agent its own`);
  }
};

/** The id is part of session keys and the name of a folder: under another one nobody could speak with the agent. */
export const agentIdsAreUsable: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, "agents", "list")) {
    const id = valueAt(value, "id");
    if (typeof id !== "string" || isAgentId(agentKey(id))) continue;
    const usable = agentKey(id)
      .replaceAll(/[^a-z0-9._-]+/g, "-")
      .replaceAll(/^[^a-z0-9]+|-+$/g, "")
      .slice(0, 64);
    const such = usable === "" ? "" : `, such as ${quoted(usable)}`;
    yield ruleIssue([...path, "id"], `no session can have the agent id ${quoted(id)}; use letters, digits, ".", "_" and "-", a letter or digit first${such}`);
  }
};

export const oneDefaultAgent: Rule = function* (config) {
  const defaults = [...itemsAt(config, "agents", "list")].filter(({ value }) => valueAt(value, "default") === true);
  for (const { path } of defaults.slice(1)) {
    yield ruleIssue([...path, "default"], "another agent is the default already; the first one counts", "warning");
  }
};

export const separateAgentDirs: Rule = function* (config) {
  const seen = new Map<string, string>();
  for (const { path, value } of itemsAt(config, "agents", "list")) {
    const folder = valueAt(value, "agentDir");
    const id = valueAt(value, "id");
    if (typeof folder !== "string" || folder.trim() === "") continue;
    const key = folder.trim().replace(/[/\\]+$/, "");
    const first = seen.get(key);
    if (first === undefined) seen.set(key, typeof id === "string" ? id : "another agent");
    else yield ruleIssue([...path, "agentDir"], `${quoted(first)} has the same agentDir; agents that share one overwrite each other's credentials`);
  }
};

function avatarFault(avatar: string, workspace: unknown): string | undefined {
  const text = avatar.trim();
  if (text === "" || /^(https?:\/\/|data:)/i.test(text)) return undefined;
  if (/^[a-z][a-z0-9+.-]+:/i.test(text)) return "must be a file of the workspace, an http(s) address or data:";
  if (text.startsWith("~")) return "must be inside the workspace; write it relative to the workspace";
  const parts = text.split(/[/\\]/);
  if (parts.includes("..")) return "must not leave the workspace";
  const isAbsolute = text.startsWith("/") || /^[a-z]:/i.test(text);
  if (isAbsolute && !(typeof workspace === "string" && text.startsWith(`${workspace.replace(/\/+$/, "")}/`))) {
    return "must be inside the workspace; write it relative to the workspace";
  }
  return undefined;
}

export const avatarsInWorkspace: Rule = function* (config) {
  const fallback = valueAt(config, "agents", "defaults", "workspace");
  for (const { path, value } of itemsAt(config, "agents", "list")) {
    const avatar = valueAt(value, "identity", "avatar");
    const fault = typeof avatar === "string" ? avatarFault(avatar, valueAt(value, "workspace") ?? fallback) : undefined;
    if (fault !== undefined) yield ruleIssue([...path, "identity", "avatar"], fault);
  }
};

function unknownAgent(path: Issue["path"], id: string, ids: ReadonlySet<string>, severity: Issue["severity"], then: string): Issue {
  const hint = withSuggestion(`no agent has the id ${quoted(id)}${then}`, agentKey(id), ids);
  return { ...ruleIssue(path, hint.message, severity), ...hint };
}

/** Another agent than the meant one would answer people, with its memory and its tools. */
export const boundAgentsExist: Rule = function* (config) {
  const { ids } = agentIds(config);
  for (const { path, value } of itemsAt(config, "bindings")) {
    const id = valueAt(value, "agentId");
    if (typeof id === "string" && !ids.has(agentKey(id))) {
      yield unknownAgent([...path, "agentId"], id, ids, "error", ": add it to agents.list, or remove the binding");
    }
  }
};

export const broadcastAgentsExist: Rule = function* (config) {
  const { ids, isListed } = agentIds(config);
  if (!isListed) return;
  for (const { key } of entriesAt(config, "broadcast")) {
    for (const { path, value } of itemsAt(config, "broadcast", key)) {
      if (typeof value === "string" && !ids.has(agentKey(value))) yield unknownAgent(path, value, ids, "error", "");
    }
  }
};

export const hookAgentsExist: Rule = function* (config) {
  const { ids } = agentIds(config);
  const named = [...itemsAt(config, "hooks", "mappings")].map(({ path, value }) => ({ path: [...path, "agentId"], value: valueAt(value, "agentId") }));
  for (const { path, value } of [...named, ...itemsAt(config, "hooks", "allowedAgentIds")]) {
    if (typeof value === "string" && value.trim() !== "*" && !ids.has(agentKey(value))) {
      yield unknownAgent(path, value, ids, "warning", "");
    }
  }
};

export const mainKeyIsMain: Rule = function* (config) {
  const key = objectAt(config, "session")?.["mainKey"];
  if (typeof key === "string" && key.trim() !== "main") {
    yield ruleIssue(["session", "mainKey"], 'is ignored: the main session is always called "main"; remove it', "warning");
  }
};

import { ruleIssue, withSuggestion, type Issue, type Path } from "../issue.ts";
import { isObject } from "../../value.ts";
import { quoted } from "../words.ts";
import { agentScopes, entriesAt, itemsAt, valueAt, type Rule } from "./rule.ts";
import { clip } from "../../../base/text.ts";
import { CHANNEL_IDS } from "../../known-channels.ts";
import { nameTable } from "../known-names.ts";

const admitsAll = (value: unknown): boolean => Array.isArray(value) && value.some((id) => String(id).trim() === "*");

function checkOpenPolicy(scope: Record<string, unknown>, parent: Record<string, unknown>, path: Path): Issue | undefined {
  const dm = isObject(scope["dm"]) ? scope["dm"] : {};
  const isOwn = scope["dmPolicy"] !== undefined;
  const isOpen = isOwn ? scope["dmPolicy"] === "open" : dm["policy"] === "open";
  if (!isOpen) return undefined;
  const lists = [scope["allowFrom"] ?? parent["allowFrom"], dm["allowFrom"] ?? valueAt(parent, "dm", "allowFrom")];
  if (lists.some(admitsAll)) return undefined;
  const at = isOwn ? [...path, "dmPolicy"] : [...path, "dm", "policy"];
  const list = isOwn ? "allowFrom" : "dm.allowFrom";
  return ruleIssue(at, `"open" lets anyone write to the agent: confirm it with "*" in ${list}, or use "pairing"`);
}

export const openChannelsSayIt: Rule = function* (config) {
  for (const { key, path, value } of entriesAt(config, "channels")) {
    if (key === "defaults" || !isObject(value)) continue;
    const own = checkOpenPolicy(value, {}, path);
    if (own) yield own;
    for (const account of entriesAt(config, ...path, "accounts")) {
      const issue = isObject(account.value) ? checkOpenPolicy(account.value, value, account.path) : undefined;
      if (issue) yield issue;
    }
  }
};

export const channelsExist: Rule = function* (config, { knownChannels }) {
  if (!knownChannels) return;
  for (const { key, path } of entriesAt(config, "channels")) {
    if (key === "defaults" || knownChannels.includes(key)) continue;
    const hint = withSuggestion(`unknown channel ${quoted(key)}`, key, knownChannels);
    yield { ...hint, path, code: "unknown-channel", severity: "error" };
  }
};

export const heartbeatTargetsExist: Rule = function* (config, { knownChannels }) {
  const configured = [...entriesAt(config, "channels")].map(({ key }) => key);
  const known = ["last", "none", "webchat", ...(knownChannels ?? [...CHANNEL_IDS, ...configured])];
  for (const scope of agentScopes(config)) {
    const target = valueAt(scope.value, "heartbeat", "target");
    if (typeof target !== "string" || target.trim() === "" || known.includes(target.trim().toLowerCase())) continue;
    const hint = withSuggestion(`unknown heartbeat target: ${clip(target, 60)}; expected last, none or a channel id`, target, known);
    yield { ...hint, path: [...scope.path, "heartbeat", "target"], code: "unknown-channel", severity: "error" };
  }
};

function missing(path: Path, id: string, known: readonly string[], severity: Issue["severity"]): Issue {
  return { ...withSuggestion(`plugin not found: ${clip(id, 60)}`, id, known), path, code: "unknown-plugin", severity };
}

export const pluginsExist: Rule = function* (config, { knownPlugins }) {
  if (!knownPlugins) return;
  const known = new Set(knownPlugins);
  const { plugins } = nameTable(config, undefined);
  // A plugin that was taken away leaves settings behind; they do no harm. A role that nobody fills does.
  for (const { key, path } of entriesAt(config, "plugins", "entries")) if (!known.has(key)) yield missing(path, key, knownPlugins, "warning");
  for (const list of ["allow", "deny", "disabled"]) {
    for (const { path, value } of itemsAt(config, "plugins", list)) {
      if (typeof value !== "string" || known.has(value)) continue;
      if (list === "allow") yield missing(path, value, knownPlugins, "warning");
      // What was to be kept out comes in when it is not named right. What the documented system has and this one does not is named right.
      else if (!plugins.has(value.trim().toLowerCase())) yield missing(path, value, knownPlugins, "error");
    }
  }
  const memory = valueAt(config, "plugins", "slots", "memory");
  if (typeof memory === "string" && memory !== "none" && !known.has(memory)) {
    yield missing(["plugins", "slots", "memory"], memory, knownPlugins, "error");
  }
};

export const disabledPluginConfig: Rule = function* (config) {
  for (const { path, value } of entriesAt(config, "plugins", "entries")) {
    if (isObject(value) && value["enabled"] === false && isObject(value["config"])) {
      yield ruleIssue([...path, "config"], "is not used while the plugin is disabled", "warning");
    }
  }
};

import { ruleIssue, withSuggestion, type Issue, type Path } from "../issue.ts";
import { clip } from "../../../base/text.ts";
import { isObject } from "../../value.ts";
import { nameTable } from "../known-names.ts";
import { entriesAt, itemsAt, valueAt, type Rule } from "./rule.ts";

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

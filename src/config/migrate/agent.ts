import { isObject } from "../value.ts";
import { actingDefault } from "./agent-list.ts";
import { fill, has, move, note, read, take, type MigrationTree } from "./tree.ts";

const DEFAULTS = ["agents", "defaults"];

/** Parts of `agent` that are about tools. */
export function agentTools(tree: MigrationTree): void {
  move(tree, ["agent", "tools", "allow"], ["tools", "allow"]);
  move(tree, ["agent", "tools", "deny"], ["tools", "deny"]);
  move(tree, ["agent", "elevated"], ["tools", "elevated"]);
  move(tree, ["agent", "bash"], ["tools", "exec"]);
  move(tree, ["agent", "sandbox", "tools"], ["tools", "sandbox", "tools"]);
  move(tree, ["agent", "subagents", "tools"], ["tools", "subagents", "tools"]);
}

/** Model settings of `agent` were strings and four lists beside them. */
export function agentModels(tree: MigrationTree): void {
  for (const [key, fallbacks] of [
    ["model", "modelFallbacks"],
    ["imageModel", "imageModelFallbacks"],
  ] as const) {
    const from = ["agent", key];
    if (typeof read(tree, from) === "string") {
      const primary = take(tree, from);
      fill(tree, [...DEFAULTS, key], { primary });
      note(tree, from, [...DEFAULTS, key, "primary"]);
    }
    move(tree, from, [...DEFAULTS, key]);
    move(tree, ["agent", fallbacks], [...DEFAULTS, key, "fallbacks"]);
  }
  const allowed = read(tree, ["agent", "allowedModels"]);
  if (Array.isArray(allowed)) {
    take(tree, ["agent", "allowedModels"]);
    for (const model of allowed) if (typeof model === "string") fill(tree, [...DEFAULTS, "models", model], {});
    note(tree, ["agent", "allowedModels"], [...DEFAULTS, "models"]);
  }
  const aliases = read(tree, ["agent", "modelAliases"]);
  if (isObject(aliases)) {
    take(tree, ["agent", "modelAliases"]);
    for (const [alias, model] of Object.entries(aliases)) if (typeof model === "string") fill(tree, [...DEFAULTS, "models", model], { alias });
    note(tree, ["agent", "modelAliases"], [...DEFAULTS, "models"]);
  }
}

/** What is left of `agent`, key by key. */
export function agentDefaults(tree: MigrationTree): void {
  const agent = read(tree, ["agent"]);
  if (!isObject(agent)) return;
  for (const key of Object.keys(agent)) move(tree, ["agent", key], [...DEFAULTS, key]);
  if (has(tree, ["agent"])) take(tree, ["agent"]);
}

/** `agents.defaults.model: "x"` is meant as its primary. */
export function defaultModelStrings(tree: MigrationTree): void {
  for (const key of ["model", "imageModel"]) {
    const path = [...DEFAULTS, key];
    const value = read(tree, path);
    if (typeof value !== "string") continue;
    const defaults = read(tree, DEFAULTS);
    if (isObject(defaults)) defaults[key] = { primary: value };
    note(tree, path, [...path, "primary"]);
  }
}

export function topLevelIdentity(tree: MigrationTree): void {
  if (!isObject(read(tree, ["identity"]))) return;
  const identity = take(tree, ["identity"]);
  const { entry, index } = actingDefault(tree);
  const kept = Object.hasOwn(entry, "identity");
  if (!kept) entry["identity"] = identity;
  note(tree, ["identity"], ["agents", "list", index, "identity"], kept ? "dropped: the default agent has an identity, which takes precedence" : "");
}

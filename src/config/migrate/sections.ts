import { isObject } from "../value.ts";
import { agentEntry } from "./agent-list.ts";
import { fill, has, move, note, objectsIn, read, take, type MigrationTree } from "./tree.ts";

const CHANNELS = ["whatsapp", "telegram", "discord", "slack", "signal", "imessage", "msteams"];

/** Channels stood at the top level. */
export function topLevelChannels(tree: MigrationTree): void {
  for (const id of CHANNELS) if (isObject(read(tree, [id]))) move(tree, [id], ["channels", id]);
}

export function movedSections(tree: MigrationTree): void {
  move(tree, ["memorySearch"], ["agents", "defaults", "memorySearch"]);
  move(tree, ["tools", "bash"], ["tools", "exec"]);
  move(tree, ["channels", "telegram", "requireMention"], ["channels", "telegram", "groups", "*", "requireMention"]);
  move(tree, ["messages", "queue", "byProvider"], ["messages", "queue", "byChannel"]);
}

export function ttsEnabled(tree: MigrationTree): void {
  const from = ["messages", "tts", "enabled"];
  const enabled = read(tree, from);
  if (typeof enabled !== "boolean") return;
  const to = ["messages", "tts", "auto"];
  const kept = has(tree, to);
  fill(tree, to, enabled ? "always" : "off");
  take(tree, from);
  note(tree, from, to, kept ? "dropped: messages.tts.auto is set and takes precedence" : "");
}

export function gatewayToken(tree: MigrationTree): void {
  if (!has(tree, ["gateway", "token"])) return;
  const to = ["gateway", "auth", "token"];
  if (!has(tree, to)) fill(tree, ["gateway", "auth", "mode"], "token");
  move(tree, ["gateway", "token"], to);
}

/** Matches said `provider` for what is a channel, and spelled `accountID`. */
export function matchNames(tree: MigrationTree): void {
  for (const list of [["bindings"], ["session", "sendPolicy", "rules"]]) {
    for (const [index] of objectsIn(read(tree, list))) {
      const match = [...list, index, "match"];
      move(tree, [...match, "provider"], [...match, "channel"]);
      if (list[0] === "bindings") move(tree, [...match, "accountID"], [...match, "accountId"]);
    }
  }
}

export function claudeCliProfile(tree: MigrationTree): void {
  const path = ["auth", "profiles", "anthropic:claude-cli"];
  const profile = read(tree, path);
  if (!isObject(profile) || profile["mode"] !== "token") return;
  profile["mode"] = "oauth";
  note(tree, [...path, "mode"], [...path, "mode"], 'is now "oauth"');
}

/** `plugins.disabled` is another name of `plugins.deny`; both lists hold. */
export function disabledPlugins(tree: MigrationTree): void {
  const from = ["plugins", "disabled"];
  const disabled = read(tree, from);
  if (!Array.isArray(disabled)) return;
  take(tree, from);
  const plugins = ["plugins", "deny"];
  const denied = read(tree, plugins);
  fill(tree, plugins, []);
  const list = read(tree, plugins);
  if (Array.isArray(list)) list.push(...disabled.filter((id) => !(Array.isArray(denied) && denied.includes(id))));
  note(tree, from, plugins);
}

/** Newer versions of the reference system have agents by id in `agents.entries`. */
export function agentEntries(tree: MigrationTree): void {
  const from = ["agents", "entries"];
  const entries = read(tree, from);
  if (!isObject(entries)) return;
  for (const [id, entry] of Object.entries(entries)) {
    const path = [...from, id];
    if (!isObject(entry) || !has(tree, path)) continue;
    const { index } = agentEntry(tree, id);
    move(tree, path, ["agents", "list", index]);
  }
}

import { isObject, type PlainObject } from "../value.ts";
import { agentEntry, defaultAgent } from "./agent-list.ts";
import { fill, has, move, note, read, take, type MigrationTree } from "./tree.ts";

/** `routing.allowFrom` belonged to WhatsApp alone. */
export function routingAllowFrom(tree: MigrationTree): void {
  const from = ["routing", "allowFrom"];
  if (!has(tree, from)) return;
  if (isObject(read(tree, ["channels", "whatsapp"]))) return move(tree, from, ["channels", "whatsapp", "allowFrom"]);
  take(tree, from);
  note(tree, from, [], "dropped: WhatsApp is not configured");
}

/** `routing.groupChat` was one rule for all channels. */
export function routingGroupChat(tree: MigrationTree): void {
  const mention = ["routing", "groupChat", "requireMention"];
  if (has(tree, mention)) {
    const value = take(tree, mention);
    for (const channel of ["whatsapp", "telegram", "imessage"]) {
      if (channel === "whatsapp" && !isObject(read(tree, ["channels", channel]))) continue;
      const to = ["channels", channel, "groups", "*", "requireMention"];
      fill(tree, to, value);
      note(tree, mention, to);
    }
  }
  for (const key of ["historyLimit", "mentionPatterns"]) move(tree, ["routing", "groupChat", key], ["messages", "groupChat", key]);
}

export function routingSections(tree: MigrationTree): void {
  move(tree, ["routing", "queue"], ["messages", "queue"]);
  move(tree, ["routing", "bindings"], ["bindings"]);
  move(tree, ["routing", "agentToAgent"], ["tools", "agentToAgent"]);
}

/** `routing.agents` was a map; `agents.list` is a list with ids. */
export function routingAgents(tree: MigrationTree): void {
  const from = ["routing", "agents"];
  const agents = read(tree, from);
  if (isObject(agents)) {
    take(tree, from);
    for (const [id, settings] of Object.entries(agents)) {
      if (!isObject(settings)) continue;
      const { entry, index } = agentEntry(tree, id);
      for (const [key, value] of Object.entries(renamed(settings))) if (!Object.hasOwn(entry, key)) entry[key] = value;
      note(tree, [...from, id], ["agents", "list", index]);
    }
  }
  const chosen = ["routing", "defaultAgentId"];
  const id = read(tree, chosen);
  if (typeof id !== "string" || id.trim() === "") return;
  take(tree, chosen);
  const { entry, index } = agentEntry(tree, id.trim());
  if (!defaultAgent(tree)) entry["default"] = true;
  note(tree, chosen, ["agents", "list", index, "default"]);
}

function renamed(settings: PlainObject): PlainObject {
  const { mentionPatterns, sandbox, ...others } = settings;
  const result: PlainObject = { ...others };
  if (mentionPatterns !== undefined) result["groupChat"] = { mentionPatterns, ...(isObject(result["groupChat"]) ? result["groupChat"] : {}) };
  if (!isObject(sandbox)) return sandbox === undefined ? result : { ...result, sandbox };
  const { tools, ...box } = sandbox;
  if (Object.keys(box).length > 0) result["sandbox"] = box;
  if (tools !== undefined) result["tools"] = { ...(isObject(result["tools"]) ? result["tools"] : {}), sandbox: { tools } };
  return result;
}

/** A transcription command becomes a media model of type `cli`. */
export function audioTranscription(tree: MigrationTree): void {
  for (const from of [
    ["routing", "transcribeAudio"],
    ["audio", "transcription"],
  ]) {
    const old = read(tree, from);
    const [command, ...args] = isObject(old) && Array.isArray(old["command"]) ? old["command"] : [];
    if (!isObject(old) || typeof command !== "string") continue;
    const { timeoutSeconds } = old;
    take(tree, from);
    const to = ["tools", "media", "audio", "models"];
    const hadModels = has(tree, to);
    fill(tree, to, [{ type: "cli", command, ...(args.length > 0 ? { args } : {}), ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) }]);
    fill(tree, ["tools", "media", "audio", "enabled"], true);
    note(tree, from, to, hadModels ? "dropped: tools.media.audio.models is set and takes precedence" : "moved to tools.media.audio.models as a cli entry");
  }
}

import type { Tool } from "../tool.ts";

/** What policy knows of a tool. */
export type PolicySubject = Pick<Tool, "name" | "source" | "ownerOnly" | "optional">;

const ALIASES: ReadonlyMap<string, string> = new Map([
  ["bash", "exec"],
  ["apply-patch", "apply_patch"],
]);

/** Trimmed, lower case, one name for one tool. */
export function toolName(name: string): string {
  const plain = name.trim().toLowerCase();
  return ALIASES.get(plain) ?? plain;
}

const SESSION_TOOLS = ["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "subagents", "session_status"];
const MEMORY_TOOLS = ["memory_search", "memory_get"];
const WEB_TOOLS = ["web_search", "web_fetch"];

/** Names for several tools at once. `group:plugins` and a plugin's id are known from the tools themselves. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = {
  "group:runtime": ["exec", "process"],
  "group:fs": ["read", "write", "edit", "apply_patch", "grep", "find", "ls"],
  "group:sessions": SESSION_TOOLS,
  "group:memory": MEMORY_TOOLS,
  "group:web": WEB_TOOLS,
  "group:ui": ["browser", "canvas"],
  "group:automation": ["cron", "gateway"],
  "group:messaging": ["message"],
  "group:nodes": ["nodes"],
  "group:openclaw": ["browser", "canvas", "nodes", "cron", "message", "gateway", "agents_list", ...SESSION_TOOLS, ...MEMORY_TOOLS, ...WEB_TOOLS, "image"],
};

/** Every tool that is built in, in the order in which a model is shown them. Which of them a run has depends on the run. */
export const CORE_TOOLS: readonly string[] = [
  ..."read edit write apply_patch grep find ls exec process browser canvas nodes cron message tts gateway".split(" "),
  "agents_list",
  ...SESSION_TOOLS,
  ...WEB_TOOLS,
  "image",
];

const OWNER_ONLY: ReadonlySet<string> = new Set(["cron", "gateway", "whatsapp_login"]);

/** Only whoever owns this gateway may use it, whatever the lists say. */
export function isOwnerOnly({ name, ownerOnly }: Pick<PolicySubject, "name" | "ownerOnly">): boolean {
  return ownerOnly === true || OWNER_ONLY.has(name);
}

/** The tools of a group; undefined when there is no such group. */
export function groupTools(name: string): readonly string[] | undefined {
  return Object.hasOwn(GROUPS, name) ? GROUPS[name] : undefined;
}

/** The list of a profile; undefined when it has no opinion or is none. */
export function profileTools(name: string): readonly string[] | undefined {
  return Object.hasOwn(PROFILES, name) ? PROFILES[name as ProfileName] : undefined;
}

export type ProfileName = "minimal" | "coding" | "messaging" | "full";

/** Sets to start from; `full` has no opinion. */
export const PROFILES: Readonly<Record<ProfileName, readonly string[] | undefined>> = {
  minimal: ["session_status"],
  coding: ["group:fs", "group:runtime", "group:sessions", "group:memory", "image"],
  messaging: ["group:messaging", "sessions_list", "sessions_history", "sessions_send", "session_status"],
  full: undefined,
};

/** Does an entry of an allow or deny list mean this tool? `*` stands for any text, anywhere. */
export function names(entry: string, tool: Pick<PolicySubject, "name" | "source">): boolean {
  const wanted = toolName(entry);
  const name = tool.name.toLowerCase();
  if (wanted === "*" || wanted === name) return true;
  if (tool.source.kind === "plugin" && (wanted === "group:plugins" || wanted === tool.source.id.toLowerCase())) return true;
  const group = groupTools(wanted);
  if (group) return group.includes(name);
  return wanted.includes("*") && matches(wanted, name);
}

/** As `names`, for lists that allow: who may run commands may patch files. */
export function allows(entry: string, tool: Pick<PolicySubject, "name" | "source">): boolean {
  return names(entry, tool) || (tool.name === "apply_patch" && names(entry, { name: "exec", source: tool.source }));
}

/** Without a regular expression, so that no pattern can be slow. */
function matches(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const first = parts[0]!;
  const last = parts.at(-1)!;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  const end = text.length - last.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

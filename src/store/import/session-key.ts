/** Kinds after which a `dm` segment is an id: `agent:x:slack:channel:dm` is a channel named dm. */
const CHAT_KINDS = new Set(["group", "channel", "thread", "topic"]);
/** Keys that belong to no agent. */
const SHARED = new Set(["global", "unknown"]);

/** Converts the old spelling of a direct chat (`…:dm:<peer>`) to the current one (`…:direct:<peer>`). Other keys stay as they are. */
export function currentKey(key: string): string {
  const parts = key.split(":");
  const first = parts[0] === "agent" ? 2 : 0;
  for (const [index, part] of parts.slice(first, Math.min(parts.length - 1, first + 3)).entries()) {
    const at = first + index;
    if (CHAT_KINDS.has(part)) return key;
    if (part === "dm") return [...parts.slice(0, at), "direct", ...parts.slice(at + 1)].join(":");
  }
  return key;
}

/** Keys from before there were agents have no `agent:<id>:` in front. */
export function agentKey(key: string, agentId: string): string {
  return key.startsWith("agent:") || SHARED.has(key) ? key : `agent:${agentId}:${key}`;
}

/** The agent that a key names. */
export function agentOf(key: string): string | undefined {
  return /^agent:([^:]+):/.exec(key)?.[1];
}

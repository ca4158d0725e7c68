import { parseSessionKey, type SessionEntry } from "../../protocol/index.ts";
import type { PromptMode } from "./facts.ts";

/** What of a session may shape its prompt. */
export interface SessionFacts {
  readonly mode: PromptMode;
  /** Which of the workspace's files belong here: all, all but the private memory, or only the rules of work. */
  readonly files: "all" | "shared" | "few";
  readonly channel?: string;
}

/** The form of a channel's id. */
const CHANNEL = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * Takes from a session what the prompt may know: which kind it is and the id of its channel. Labels, subjects and names are written by
 * whoever is in the chat, so none of them passes.
 */
export function sessionFacts(sessionKey: string, entry?: SessionEntry): SessionFacts {
  const key = parseSessionKey(sessionKey);
  const parts = key?.kind === "agent" ? key.rest.split(":") : sessionKey.split(":");
  const subagent = parts[0] === "subagent" || parts.includes("subagent", 1);
  const channel = entry?.lastChannel ?? entry?.channel;
  return {
    mode: subagent ? "minimal" : "full",
    files: subagent || parts[0] === "cron" ? "few" : isShared(parts, entry) ? "shared" : "all",
    ...(typeof channel === "string" && CHANNEL.test(channel) ? { channel } : {}),
  };
}

/** True for chats of more than one person. */
function isShared(parts: readonly string[], entry: SessionEntry | undefined): boolean {
  const kind = entry?.chatType;
  return kind === "group" || kind === "channel" || kind === "room" || parts[1] === "group" || parts[1] === "channel";
}

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseSessionKey, type SessionEntry, type ThinkingLevel, type ToolSchema } from "../../protocol/index.ts";
import type { BootstrapSet } from "../workspace/bootstrap-names.ts";
import type { InjectedFiles } from "./injected-files.ts";

/** `full` for a conversation, `minimal` for a sub-agent, `none` for one line. */
export type PromptMode = "full" | "minimal" | "none";

export interface SandboxFacts {
  /** As configured: `off`, `non-main`, `all`. */
  readonly mode: string;
  /** Whether this session's commands run inside. */
  readonly sandboxed: boolean;
  /** The working folder as commands inside see it. */
  readonly workdir?: string;
  /** The folder on the host that is shown inside. */
  readonly hostFolder?: string;
  readonly workspaceAccess?: "none" | "ro" | "rw";
  /** Where the agent's own workspace is mounted inside. */
  readonly workspaceMount?: string;
  readonly browser?: { readonly inside: boolean; readonly observerUrl?: string; readonly hostAllowed?: boolean };
  /** Level of commands outside; absent when they are not allowed. */
  readonly elevated?: "off" | "on" | "ask" | "full";
}

/** The machine. It stays the same for the life of the process. */
export interface HostFacts {
  readonly host?: string;
  readonly os?: string;
  readonly arch?: string;
  readonly node?: string;
  readonly shell?: string;
  readonly repoRoot?: string;
}

/** What may be different in the next turn of the same session. Everything made from it stands at the end of the prompt. */
export interface TurnFacts {
  /** `provider/model`. */
  readonly model?: string;
  readonly defaultModel?: string;
  readonly thinking?: ThinkingLevel;
  readonly reasoning?: "off" | "on" | "stream";
  /** Id of the channel the answer goes to. */
  readonly channel?: string;
  readonly capabilities?: readonly string[];
  /** The channel can have buttons, and the configuration turns them off. */
  readonly buttonsOff?: boolean;
  /** What the channel's plugin says about the message tool. */
  readonly messageHints?: readonly string[];
  readonly reactions?: "minimal" | "extensive";
  /** What the voice settings say about spoken answers. */
  readonly voiceHint?: string;
  /** The model marks its reasoning with tags. */
  readonly thinkTags?: boolean;
  /** The chat has one other person in it. */
  readonly direct?: boolean;
  /** The chat that the message came from, in one line of JSON. Nothing in it was written by a person. */
  readonly inbound?: string;
  /** Instructions from the configuration for this chat, or what a sub-agent is for. Never what a person wrote in a chat. */
  readonly instructions?: string;
}

/**
 * Everything the system prompt is made from. There is no field for what comes from outside: names of senders, subjects of groups and texts of
 * messages are part of the conversation, and no clock: the same facts give the same bytes.
 */
export interface PromptFacts {
  readonly mode: PromptMode;
  readonly agentId: string;
  readonly workspaceDir: string;
  readonly workspaceNotes?: readonly string[];
  readonly tools: readonly ToolSchema[];
  /** The list of skills, from the session's snapshot. */
  readonly skillsPrompt?: string;
  /** How many skills there are, where they are searched instead of listed. */
  readonly searchedSkills?: number;
  readonly memoryCitations?: "auto" | "on" | "off";
  readonly modelAliases?: readonly { readonly alias: string; readonly model: string }[];
  /** Folder of the documentation on this machine. */
  readonly docsPath?: string;
  readonly sandbox?: SandboxFacts;
  /** Characters of a command's output that are shown at once. */
  readonly outputChars?: number;
  /** Who the owner is, as configured. */
  readonly owners?: readonly string[];
  /** IANA name. */
  readonly timezone?: string;
  /** The day there, in words. No clock: the same facts give the same bytes all day. */
  readonly today?: string;
  /** How people there write the time of day; the prompt does not mention `auto`. */
  readonly timeFormat?: "auto" | "12" | "24";
  /** Ids of the configured channels. */
  readonly channels?: readonly string[];
  readonly heartbeatPrompt?: string;
  readonly files: InjectedFiles;
  readonly host: HostFacts;
  readonly turn: TurnFacts;
}

/** What of a session may shape its prompt. */
export interface SessionFacts {
  readonly mode: PromptMode;
  /** Which of the workspace's files belong here. */
  readonly files: BootstrapSet;
  readonly channel?: string;
}

const SHARED: ReadonlySet<string | undefined> = new Set(["group", "channel", "room"]);
/** The form of a channel's id. */
const CHANNEL = /^[a-z0-9][a-z0-9_-]{0,63}$/;

/**
 * Takes from a session what the prompt may know: which kind it is and the id of its channel. Labels, subjects and names are written by
 * the people in the chat, so none of them passes.
 */
export function sessionFacts(sessionKey: string, entry?: SessionEntry): SessionFacts {
  const key = parseSessionKey(sessionKey);
  const parts = key?.kind === "agent" ? key.rest.split(":") : sessionKey.split(":");
  const subagent = parts[0] === "subagent" || parts.includes("subagent", 1);
  const channel = entry?.lastChannel ?? entry?.channel;
  // Chats of more than one person.
  const isShared = SHARED.has(entry?.chatType) || parts[1] === "group" || parts[1] === "channel";
  // Heartbeats that run outside the main session.
  const isBeat = parts[0] === "heartbeat";
  return {
    mode: subagent || isBeat ? "minimal" : "full",
    files: isBeat ? "heartbeat" : subagent || parts[0] === "cron" ? "few" : isShared ? "shared" : "all",
    ...(typeof channel === "string" && CHANNEL.test(channel) ? { channel } : {}),
  };
}

/** The user's zone: as configured if there is such a zone, else the machine's. */
export function userTimeZone(configured: string | undefined, machine: string): string {
  const zone = configured?.trim();
  return zone && isTimeZone(zone) ? zone : machine;
}

/** Days begin at a quarter of an hour everywhere. */
const QUARTER_MS = 15 * 60_000;

/** Names the day in a zone, in words. The same text is made once. */
export function createToday(): (zone: string, now: number) => string {
  let known: { readonly zone: string; readonly quarter: number; readonly day: string } | undefined;
  return (zone, now) => {
    const quarter = Math.floor(now / QUARTER_MS);
    if (known?.zone !== zone || known.quarter !== quarter) {
      const format = new Intl.DateTimeFormat("en-GB", { timeZone: zone, weekday: "long", day: "numeric", month: "long", year: "numeric" });
      known = { zone, quarter, day: format.format(now) };
    }
    return known.day;
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions();
    return true;
  } catch {
    return false;
  }
}

/** Folders above the workspace that are looked at. */
const MAX_LEVELS = 12;

/** The repository that the prompt names: the configured folder if it is there, else the one that the workspace lies in. */
export function repoRoot(configured: string | undefined, workspaceDir: string): string | undefined {
  const chosen = configured?.trim();
  if (chosen && existsSync(chosen)) return resolve(chosen);
  let folder = resolve(workspaceDir);
  for (let level = 0; level < MAX_LEVELS; level += 1) {
    if (existsSync(join(folder, ".git"))) return folder;
    const above = dirname(folder);
    if (above === folder) return undefined;
    folder = above;
  }
  return undefined;
}

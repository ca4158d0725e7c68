import type { ThinkingLevel, ToolSchema } from "../../protocol/index.ts";
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
  /** Instructions from the configuration for this chat, or what a sub-agent is for. Never what somebody wrote in a chat. */
  readonly instructions?: string;
}

/**
 * Everything the system prompt is made from. There is no place for what comes from outside: names of senders, subjects of groups and texts of
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
  /** How people there write the time of day; nothing is said about `auto`. */
  readonly timeFormat?: "auto" | "12" | "24";
  /** Ids of the configured channels. */
  readonly channels?: readonly string[];
  readonly heartbeatPrompt?: string;
  readonly files: InjectedFiles;
  readonly host: HostFacts;
  readonly turn: TurnFacts;
}

/** Files of a workspace that are shown to its agent, in this order. */
export const BOOTSTRAP_NAMES = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md", "BOOTSTRAP.md"] as const;

export type BootstrapName = (typeof BOOTSTRAP_NAMES)[number];

/** Long-term memory; both spellings are in use. */
export const MEMORY_NAMES = ["MEMORY.md", "memory.md"] as const;

/** What an agent is to look after by itself. */
export const HEARTBEAT_NAME = "HEARTBEAT.md" satisfies BootstrapName;

/** All that sub-agents and scheduled jobs see. */
export const FEW_NAMES: ReadonlySet<string> = new Set(["AGENTS.md", "TOOLS.md"]);

/** What a template is filled in with. */
export interface TemplateFacts {
  readonly id: string;
  /** On one line. */
  readonly name: string;
  readonly emoji: string;
  readonly theme: string;
}

/** First contents of a workspace. Without `BOOTSTRAP.md` there is no first conversation. */
export type WorkspaceFiles = Readonly<Record<Exclude<BootstrapName, "BOOTSTRAP.md">, string> & { readonly "BOOTSTRAP.md"?: string }>;

/** Which files a prompt shows: all, all but the private memory, the few for sub-agents and jobs, or the one for heartbeats outside the main session. */
export type BootstrapSet = "all" | "shared" | "few" | "heartbeat";

/** A file of the workspace as it was read; `agent:bootstrap` hooks see and change these. */
export interface BootstrapFile {
  readonly name: string;
  readonly path: string;
  readonly content?: string;
  readonly missing: boolean;
  /** Characters on disk, when `content` is only a part of them. */
  readonly rawChars?: number;
  /** Why it was not read although it is there. */
  readonly refused?: string;
}

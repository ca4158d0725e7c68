/** What the gateway needs from modules above it. `app` provides these. */
import type { AgentTemplate, createSkills, InstallHost, Roster } from "../agent/index.ts";
import type { FileVersions } from "../memory/index.ts";
import type { SkillAdminPort } from "./methods/skill-changes.ts";
import type { MethodResult } from "../protocol/index.ts";
import type { Approvals, CommandPolicy, ExecRules, ExecRulesSnapshot, ExplainedCommand, RememberedCommands } from "../tools/index.ts";

export type { AcceptedRun, Responder, RunEvent, RunFailure, RunOutcome, RunRequest, RunUsage, ToolEvent } from "../conversation/index.ts";

type Skills = ReturnType<typeof createSkills>;

/** How much of a file that a caller names by its address is fetched, and from where. */
export interface FetchLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly maxRedirects: number;
  /** Asked for the address and for each that it leads to. */
  readonly isAllowed: (url: URL) => boolean;
  readonly signal: AbortSignal;
}

/** Fetches a file from the web, guarded against addresses that a stranger must not reach through us. Rejects with an `AppError`. */
export type FetchFile = (url: string, limits: FetchLimits) => Promise<{ readonly data: Uint8Array; readonly mimeType?: string }>;

/** One call of a tool outside of a turn. */
export interface ToolInvocation {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly action?: string;
  /** Canonical. */
  readonly sessionKey: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly owner: boolean;
  readonly signal: AbortSignal;
}

/** Tools, through the one place where they run. */
export interface ToolsPort {
  /** Undefined when policy does not offer the tool to this session. */
  invoke(call: ToolInvocation): Promise<{ readonly content: readonly unknown[]; readonly details?: unknown; readonly isError: boolean } | undefined>;
}

/** Why a session may use a tool, or may not. */
export interface ToolExplanation {
  readonly name: string;
  readonly allowed: boolean;
  readonly layer?: string;
  /** Of the configuration. */
  readonly path?: string;
  readonly entry?: string;
  readonly why: string;
  /** `core`, `plugin:<id>` or `channel:<id>`. */
  readonly source: string;
}

/** A tool as lists show it. */
export interface ListedTool {
  readonly name: string;
  readonly label?: string;
  readonly description: string;
  readonly source: "core" | "plugin" | "channel";
  readonly pluginId?: string;
  readonly ownerOnly?: boolean;
  readonly optional?: boolean;
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** What is known about tools. Keys are canonical, and their agents are there. */
export interface ToolFactsPort {
  /** All tools when `tool` is absent; none when there is no such tool. */
  explain(asked: {
    readonly agentId: string;
    readonly sessionKey: string;
    readonly tool?: string;
    readonly owner: boolean;
  }): Promise<readonly ToolExplanation[]>;
  /** What an agent may do with a file, by its absolute path. */
  file(agentId: string, path: string): Promise<NonNullable<MethodResult<"tools.explain">["file"]>>;
  catalog(agentId: string): Promise<readonly ListedTool[]>;
}

/** How a session was summed up. */
export interface CompactionReport {
  readonly compacted: boolean;
  /** Why not. */
  readonly reason?: string;
  readonly tokensBefore?: number;
  readonly tokensAfter?: number;
}

/** Questions to operators. */
export type ApprovalsPort = Pick<Approvals, "request" | "resolve" | "list" | "history" | "onNotice">;

/** The rules for commands on this host. */
export interface ExecRulesPort {
  snapshot(): ExecRulesSnapshot | Promise<ExecRulesSnapshot>;
  replace: ExecRules["replace"];
  /** What "allow always" stored, of one agent or of all. */
  remembered: RememberedCommands["list"];
  forget: RememberedCommands["forget"];
  restore: RememberedCommands["restore"];
  /** The rules that hold for an agent. */
  policy(agentId: string): Promise<CommandPolicy>;
  /** What would happen to a command of an agent's main session. */
  explain(agentId: string, command: string): Promise<ExplainedCommand>;
}

/** One install of what a skill lacks. */
export interface SkillInstall {
  readonly workspaceDir: string;
  /** Of the skill. */
  readonly name: string;
  /** Of the way in its `install` list. */
  readonly installId: string;
  readonly timeoutMs?: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress?: ((progress: { readonly step: number; readonly steps: number; readonly command: string; readonly text?: string }) => void) | undefined;
}

export interface SkillInstallOutcome {
  readonly ok: boolean;
  readonly message: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly warnings: readonly string[];
}

/** What methods need from the agent module. */
export interface AgentPort {
  /** Folder of an agent's files. */
  workspace(agentId: string): string | Promise<string>;
  /** Earlier texts of the files that shape agents. */
  readonly versions: Pick<FileVersions, "note" | "list" | "read">;
  /** Makes, changes and removes agents; loaded when it is needed. Absent: methods do not. */
  roster?(): Promise<Roster & { readonly templates: readonly AgentTemplate[] }>;
  /** Appends a summary to a session's transcript. Waits for its run to end, or rejects with `UNAVAILABLE`. Absent: lines are cut instead. */
  compact?(request: { readonly sessionKey: string; readonly instructions?: string; readonly signal: AbortSignal }): Promise<CompactionReport>;
  /** Does something in a session while no turn of it runs; turns that come wait for it. Absent: conversations are not branched. */
  exclusively?<T>(sessionKey: string, work: () => Promise<T>): Promise<T>;
  /** Absent: `skills.*` is not answered. */
  readonly skills?: {
    status: Skills["status"];
    changed: Skills["changed"];
    /** Where skills that were installed for all agents are. */
    readonly managedFolder: string;
    /** What programs can be installed with on this machine. */
    installHost(): Promise<InstallHost>;
    /** Installs what a skill lacks. Rejects with `NOT_FOUND` when there is no such skill or way; a failed install is an outcome. */
    install(request: SkillInstall): Promise<SkillInstallOutcome>;
    /** Absent: skills are not brought in, written and removed. */
    readonly admin?: SkillAdminPort;
  };
}

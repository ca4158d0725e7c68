import type { HookLog } from "../hooks/index.ts";
import type { ImageContent, TextContent } from "../protocol/index.ts";
import type { SessionChoice } from "./authority/choice.ts";

/** Where a tool comes from. A plugin's id stands for all of its tools in allow lists. */
export type ToolSource = { readonly kind: "core" } | { readonly kind: "plugin"; readonly id: string } | { readonly kind: "channel"; readonly id: string };

/** Who calls, from where, in which session: what a tool may know and policy is decided by. */
export interface ToolContext {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly runId: string;
  /** The agent's files; relative paths are meant from here. */
  readonly workspaceDir: string;
  /** The sender of the message that is being answered is the owner. */
  readonly owner: boolean;
  readonly provider?: string;
  readonly modelId?: string;
  readonly channel?: string;
  readonly accountId?: string;
  readonly senderId?: string;
  /** Cron job this turn runs for. */
  readonly jobId?: string;
  /** What was chosen with `/exec` and `/elevated` for the session, as it is stored: how much of it holds is decided when it is used. */
  readonly choice?: SessionChoice;
  /** Variables of the session's skills, for commands on this machine. */
  readonly skillEnv?: Readonly<Record<string, string>>;
  /** The session's skills, where they are searched because the prompt does not list them. */
  readonly skills?: readonly { readonly name: string; readonly description: string; readonly location: string }[];
  /** Names of the tools that this run has. */
  readonly offered?: ReadonlySet<string>;
  /** Tokens the model can see; large results are cut to a share of it. */
  readonly contextWindow?: number;
  /** Called from outside of any conversation: nobody waits for a question. */
  readonly unattended?: boolean;
  /** The trace that the run belongs to, and its span in it. */
  readonly trace?: { readonly traceId: string; readonly span: string };
  /** Gets what plugins said about calls. */
  readonly hookLog?: Pick<HookLog, "add">;
}

export interface ToolCall {
  readonly id: string;
  /** Checked against the tool's parameters. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** Shows what there is so far. */
  readonly update: (partial: ToolOutcome) => void;
  readonly context: ToolContext;
}

/** What a tool answers. Failure is an answer too. */
export interface ToolOutcome {
  readonly content: readonly (TextContent | ImageContent)[];
  /** For the transcript and the screen; no model sees it. */
  readonly details?: unknown;
  readonly isError: boolean;
  readonly terminate?: boolean;
}

/** What a tool would have the operator asked. */
export interface ToolQuestion {
  readonly title: string;
  readonly description: string;
  readonly severity?: "info" | "warning" | "critical";
}

/** Something an agent can do. It runs only in the broker. */
export interface Tool {
  /** Lower case. */
  readonly name: string;
  readonly description: string;
  readonly label?: string;
  /** JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly source: ToolSource;
  readonly ownerOnly?: boolean;
  /** Only there when an allow list names it, its plugin or `group:plugins`. */
  readonly optional?: boolean;
  /** May be run again after a crash in the middle of it. */
  readonly idempotent?: boolean;
  /**
   * `parallel`: only reads, so that neighbouring calls in one answer run side by side. Default `sequential`: nothing else of the answer runs
   * meanwhile.
   */
  readonly executionMode?: "parallel" | "sequential";
  /** Mends what models get wrong with this tool, before its arguments are checked. */
  readonly prepareArguments?: (raw: Readonly<Record<string, unknown>>) => unknown;
  /** Absolute paths that a call with these parameters names, for plugins that decide about it; links are resolved as well. */
  readonly paths?: (params: Readonly<Record<string, unknown>>, context: ToolContext) => readonly string[] | Promise<readonly string[]>;
  /** What the operator has to agree to before a call with these parameters is made; undefined when nothing. */
  readonly asks?: (params: Readonly<Record<string, unknown>>, context: ToolContext) => ToolQuestion | undefined | Promise<ToolQuestion | undefined>;
  /** Longest time for one call; none when absent. */
  readonly timeoutMs?: number;
  run(call: ToolCall): Promise<ToolOutcome>;
}

/** A tool's name for people: `web_search` → `Web Search`. */
export function toolLabel(name: string): string {
  return name
    .split(/[_\s-]+/)
    .filter((word) => word !== "")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** One text as a result. */
export function textOutcome(text: string, details?: unknown): ToolOutcome {
  return { content: [{ type: "text", text }], ...(details === undefined ? {} : { details }), isError: false };
}

/** A failure in words the model can act on. */
export function failedOutcome(text: string, details?: unknown): ToolOutcome {
  return { ...textOutcome(text, details), isError: true };
}

/** A value as pretty JSON, for the model and for machines. */
export function jsonOutcome(value: unknown): ToolOutcome {
  return textOutcome(JSON.stringify(value, null, 2), value);
}

import type { OpenClawConfig } from "../config/index.ts";
import type { Tool } from "./tool.ts";

/** Groups that allow and deny lists may name, as `group:<name>`, in the order of the documentation. */
export const TOOL_GROUPS = ["runtime", "fs", "sessions", "memory", "web", "ui", "automation", "messaging", "nodes", "openclaw"] as const;
export type ToolGroup = (typeof TOOL_GROUPS)[number];

/** What a tool brings into a session, and whether it can carry something out of it. */
export interface ToolReach {
  readonly reads?: "private" | "untrusted" | "both" | undefined;
  readonly outbound?: boolean | undefined;
}

/** What a run must be known for to say whether a tool is offered. */
export interface OfferFacts {
  readonly config: OpenClawConfig;
  readonly agentId: string;
  readonly provider?: string | undefined;
  readonly modelId?: string | undefined;
  /** The session has too many skills for a list in its prompt. */
  readonly searchesSkills?: boolean | undefined;
}

/** Why a tool is not offered, and the setting that decides it. */
export interface Absence {
  readonly why: string;
  readonly path?: string;
}

/** Everything about a tool that other code has to know: policy, prompt, chats, the sandbox, the HTTP interface. */
export interface ToolFacts {
  /** Lower case. */
  readonly name: string;
  /** Other spellings in lists and calls. */
  readonly aliases?: readonly string[];
  readonly groups: readonly ToolGroup[];
  /** Profiles that allow it by name, besides those that allow one of its groups. */
  readonly profiles?: readonly ("minimal" | "coding" | "messaging")[];
  /** Unknown when absent: then it counts as if it read and sent anything. */
  readonly reach?: ToolReach;
  /** It changes files of the workspace: not there where those are read-only. */
  readonly writesFiles?: boolean;
  /** What it is for, in a few words, for the list of tools in the prompt. */
  readonly promptLine?: string;
  /** Stands before its lines in a chat. */
  readonly icon?: string;
  readonly ownerOnly?: boolean;
  /** Whether it is there in a sandbox when no list says otherwise. */
  readonly inSandbox?: "allowed" | "denied";
  /** Subagents never have it, or not those that may start none themselves. */
  readonly subagents?: "never" | "not-deepest";
  /** `POST /tools/invoke`: never, or only when `gateway.tools.allow` names it. */
  readonly overHttp?: "never" | "if-named";
  /** A plugin brings it: it is no built-in tool, and other plugins may have one of this name. */
  readonly fromPlugin?: boolean;
  /** Why a run does not have it, whatever the lists say. */
  absence?(facts: OfferFacts): Absence | undefined;
}

/** A tool: what is known about it, and how it is made. */
export interface ToolDeclaration<Deps>
  extends ToolFacts, Pick<Tool, "label" | "parameters" | "idempotent" | "executionMode" | "prepareArguments" | "asks" | "timeoutMs"> {
  readonly description: string | ((deps: Deps) => string);
  /** Absolute paths that a call names, for plugins that decide about it. */
  paths?(deps: Deps): NonNullable<Tool["paths"]>;
  /** False while something it cannot do without is missing; asked for each run. */
  isOffered?(deps: Deps): boolean;
  /** What it does in a call. What a tool remembers between calls lives as long as what this gives. */
  run(deps: Deps): Tool["run"];
}

export interface DeclaredTool<Deps> extends ToolDeclaration<Deps> {
  create(deps: Deps): Tool;
}

export function defineTool<Deps>(declaration: ToolDeclaration<Deps>): DeclaredTool<Deps> {
  const { name, label, parameters, ownerOnly, idempotent, executionMode, prepareArguments, paths, asks, timeoutMs, description, run } = declaration;
  return {
    ...declaration,
    create: (deps) => ({
      name,
      get description() {
        return typeof description === "function" ? description(deps) : description;
      },
      parameters,
      source: { kind: "core" },
      ...(label === undefined ? {} : { label }),
      ...(ownerOnly === undefined ? {} : { ownerOnly }),
      ...(idempotent === undefined ? {} : { idempotent }),
      ...(executionMode === undefined ? {} : { executionMode }),
      ...(prepareArguments === undefined ? {} : { prepareArguments }),
      ...(paths === undefined ? {} : { paths: paths(deps) }),
      ...(asks === undefined ? {} : { asks }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      run: run(deps),
    }),
  };
}

/** Makes tools once; gives those that a run is offered. */
export function createTools<Deps>(declarations: readonly DeclaredTool<Deps>[], deps: Deps): (facts: OfferFacts) => readonly Tool[] {
  const made = declarations.map((declaration) => ({ declaration, tool: declaration.create(deps) }));
  return (facts) =>
    made.filter(({ declaration }) => declaration.absence?.(facts) === undefined && (declaration.isOffered?.(deps) ?? true)).map(({ tool }) => tool);
}

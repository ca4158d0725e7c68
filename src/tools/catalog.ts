/** The built-in tools, one line for each, and what follows from their declarations. */
import { editTool } from "./builtin/files/edit.ts";
import { readTool } from "./builtin/files/read.ts";
import { writeTool } from "./builtin/files/write.ts";
import { BROWSER, CANVAS, CRON, GATEWAY, MESSAGE, NODES, OF_PLUGINS, SESSIONS_SPAWN, SUBAGENTS } from "./builtin/elsewhere.ts";
import { imageTool, type ImageToolDeps } from "./builtin/image/image.ts";
import { imageGenerateTool, type ImageGenerateDeps } from "./builtin/image/image-generate.ts";
import { memoryGetTool } from "./builtin/memory/memory-get.ts";
import { memorySearchTool, type MemorySearchDeps } from "./builtin/memory/memory-search.ts";
import { ttsTool, type TtsDeps } from "./builtin/voice/tts.ts";
import { applyPatchTool, type ApplyPatchDeps } from "./builtin/patch/apply-patch.ts";
import type { SearchToolsDeps } from "./builtin/search/effort.ts";
import { findTool } from "./builtin/search/find.ts";
import { grepTool } from "./builtin/search/grep.ts";
import { lsTool } from "./builtin/search/ls.ts";
import { agentsListTool } from "./builtin/session/agents-list.ts";
import { sessionStatusTool } from "./builtin/session/session-status.ts";
import { sessionsHistoryTool } from "./builtin/session/sessions-history.ts";
import { sessionsListTool } from "./builtin/session/sessions-list.ts";
import { sessionsSendTool, type SessionSendDeps } from "./builtin/session/sessions-send.ts";
import { skillsSearchTool } from "./builtin/skills/skills-search.ts";
import type { WebToolsDeps } from "./builtin/web/deps.ts";
import { webFetchTool } from "./builtin/web/fetch.ts";
import { webSearchTool } from "./builtin/web/search.ts";
import { TOOL_GROUPS, type DeclaredTool, type ToolFacts } from "./declaration.ts";
import type { ExecToolDeps } from "./exec/deps.ts";
import { execTool } from "./exec/exec.ts";
import { processTool, type ProcessToolDeps } from "./process/process.ts";

/** What the built-in tools work with. */
export type BuiltinDeps = ApplyPatchDeps &
  SearchToolsDeps &
  ImageToolDeps &
  ImageGenerateDeps &
  ExecToolDeps &
  ProcessToolDeps &
  SessionSendDeps &
  WebToolsDeps &
  MemorySearchDeps &
  TtsDeps;

/** Every tool that is known, in the order in which they are listed. */
const KNOWN: readonly (ToolFacts | DeclaredTool<BuiltinDeps>)[] = [
  readTool,
  editTool,
  writeTool,
  applyPatchTool,
  grepTool,
  findTool,
  lsTool,
  execTool,
  processTool,
  BROWSER,
  CANVAS,
  NODES,
  CRON,
  MESSAGE,
  ttsTool,
  GATEWAY,
  agentsListTool,
  sessionsListTool,
  sessionsHistoryTool,
  sessionsSendTool,
  SESSIONS_SPAWN,
  SUBAGENTS,
  sessionStatusTool,
  skillsSearchTool,
  webSearchTool,
  webFetchTool,
  imageTool,
  imageGenerateTool,
  memorySearchTool,
  memoryGetTool,
  ...OF_PLUGINS,
];

/** Those whose code is here. */
export const BUILTIN_TOOLS: readonly DeclaredTool<BuiltinDeps>[] = KNOWN.filter((tool) => "create" in tool);

const ALIASES: ReadonlyMap<string, string> = new Map(KNOWN.flatMap(({ name, aliases = [] }) => aliases.map((alias) => [alias, name] as const)));
const BY_NAME: ReadonlyMap<string, ToolFacts> = new Map(KNOWN.map((facts) => [facts.name, facts]));

const namesOf = (has: (facts: ToolFacts) => boolean): readonly string[] => KNOWN.filter(has).map(({ name }) => name);

/** Trimmed, lower case, one name for one tool. */
export function toolName(name: string): string {
  const plain = name.trim().toLowerCase();
  return ALIASES.get(plain) ?? plain;
}

/** What is known about a tool, by any of its names; undefined for a tool of a plugin. */
export const toolFacts = (name: string): ToolFacts | undefined => BY_NAME.get(toolName(name));

/** The names of tools that have a line in the prompt, in their order there. */
export const PROMPT_ORDER: readonly string[] = namesOf(({ promptLine }) => promptLine !== undefined);

/** Every tool that is built in, in the order in which they are listed. Which of them a run has depends on the run. */
export const CORE_TOOLS: readonly string[] = namesOf(({ fromPlugin }) => fromPlugin !== true);

/** Names for several tools at once. `group:plugins` and a plugin's id are known from the tools themselves. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  TOOL_GROUPS.map((group) => [`group:${group}`, namesOf(({ groups }) => groups.includes(group))]),
);

export type ProfileName = "minimal" | "coding" | "messaging" | "full";

const inProfile = (profile: "minimal" | "coding" | "messaging"): readonly string[] => namesOf(({ profiles }) => profiles?.includes(profile) ?? false);

/** Sets to start from; `full` has no opinion. */
export const PROFILES: Readonly<Record<ProfileName, readonly string[] | undefined>> = {
  minimal: inProfile("minimal"),
  coding: ["group:fs", "group:runtime", "group:sessions", "group:memory", ...inProfile("coding")],
  messaging: ["group:messaging", ...inProfile("messaging")],
  full: undefined,
};

/** What a sandbox has and has not when no list says otherwise; commands come first. */
export const IN_SANDBOX: readonly string[] = [true, false].flatMap((runs) =>
  namesOf(({ inSandbox, groups }) => inSandbox === "allowed" && groups.includes("runtime") === runs),
);
export const NOT_IN_SANDBOX: readonly string[] = namesOf(({ inSandbox }) => inSandbox === "denied");

/** What a read-only workspace leaves no use for. */
export const WRITES_FILES: readonly string[] = namesOf(({ writesFiles }) => writesFiles === true);

/** What subagents never have, and what those do not have that may start none themselves. */
export const NOT_FOR_SUBAGENTS: readonly string[] = namesOf(({ subagents }) => subagents === "never");
export const NOT_FOR_DEEPEST: readonly string[] = namesOf(({ subagents }) => subagents === "not-deepest");

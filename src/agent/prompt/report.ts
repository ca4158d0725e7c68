import { isRecord } from "../../base/records.ts";
import type { PromptFacts } from "./facts.ts";
import { canReadFiles, listedTools, toolList, toolSummary } from "./sections/tools.ts";

/** How long each part is: the part of a session's `systemPromptReport` that follows from the facts. */
export interface PromptReport {
  readonly workspaceDir: string;
  readonly bootstrapMaxChars: number;
  readonly bootstrapTotalMaxChars: number;
  readonly sandbox: { readonly mode: string; readonly sandboxed: boolean };
  readonly systemPrompt: { readonly chars: number; readonly projectContextChars: number; readonly nonProjectContextChars: number };
  readonly injectedWorkspaceFiles: readonly {
    readonly name: string;
    readonly path: string;
    readonly missing: boolean;
    readonly rawChars: number;
    readonly injectedChars: number;
    readonly truncated: boolean;
  }[];
  readonly skills: { readonly promptChars: number; readonly entries: readonly { readonly name: string; readonly blockChars: number }[] };
  readonly tools: {
    readonly listChars: number;
    readonly schemaChars: number;
    readonly entries: readonly { readonly name: string; readonly summaryChars: number; readonly schemaChars: number; readonly propertiesCount: number }[];
  };
}

/** Which turn a report is about. */
export interface ReportedTurn {
  readonly source: "run" | "estimate";
  /** Milliseconds since the epoch. */
  readonly generatedAt: number;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly provider: string;
  readonly model: string;
}

/** As the session's entry keeps it and `/context` shows it. */
export type SystemPromptReport = ReportedTurn & PromptReport;

export function promptReport(facts: PromptFacts, sizes: { readonly chars: number; readonly projectContextChars: number }): PromptReport {
  const skills = facts.mode === "full" && facts.searchedSkills === undefined && canReadFiles(facts) ? (facts.skillsPrompt ?? "") : "";
  const tools = listedTools(facts.tools).map((tool) => ({
    name: tool.name,
    summaryChars: toolSummary(tool).length,
    schemaChars: JSON.stringify(tool.parameters).length,
    propertiesCount: isRecord(tool.parameters["properties"]) ? Object.keys(tool.parameters["properties"]).length : 0,
  }));
  return {
    workspaceDir: facts.workspaceDir,
    bootstrapMaxChars: facts.files.maxChars,
    bootstrapTotalMaxChars: facts.files.totalMaxChars,
    sandbox: { mode: facts.sandbox?.mode ?? "off", sandboxed: facts.sandbox?.sandboxed ?? false },
    systemPrompt: { ...sizes, nonProjectContextChars: sizes.chars - sizes.projectContextChars },
    injectedWorkspaceFiles: facts.files.files.map(({ name, path, missing, rawChars, text, truncated }) => {
      return { name, path, missing, rawChars, injectedChars: missing ? 0 : text.length, truncated };
    }),
    skills: { promptChars: skills.length, entries: skillBlocks(skills) },
    tools: { listChars: toolList(facts.tools).length, schemaChars: tools.reduce((sum, tool) => sum + tool.schemaChars, 0), entries: tools },
  };
}

/** The skills of a list and how long the block of each is. */
function skillBlocks(list: string): PromptReport["skills"]["entries"] {
  return Array.from(list.matchAll(/<skill>.*?<\/skill>/gs), ([block]) => {
    return { name: /<name>(.*?)<\/name>/s.exec(block)?.[1] ?? "", blockChars: block.length };
  });
}

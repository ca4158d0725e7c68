import type { SystemPromptReport } from "../../../agent/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import { notThere, type Handler } from "../handling.ts";
import { contextUse } from "./status.ts";

const WHAT = [
  "**Context** is everything the model is sent with a message: the system prompt, the files of the workspace, skills, tools and the conversation.",
  "/context list - size of each part",
  "/context detail - also the size of each skill and tool",
  "/context json - the report as JSON",
].join("\n");

const MOST_LISTED = 30;
const size = (chars: number): string => `${chars.toLocaleString("en-US")} chars (~${Math.ceil(chars / 4).toLocaleString("en-US")} tokens)`;

export const context: Handler = async ({ ports, call, key, args }) => {
  const form = args.toLowerCase();
  if (form === "" || form === "help") return WHAT;
  if (form !== "list" && form !== "detail" && form !== "json") return `Unknown form "${args.slice(0, 40)}". Use /context list, detail or json.`;
  if (!ports.context) return notThere("context", "this gateway has no context report");
  const [report, entry] = await Promise.all([ports.context.report(key, call.agentId), ports.session.read(key)]);
  if (!report) return "No report yet: it is created with the first reply of a session.";
  if (form === "json") return `\`\`\`json\n${JSON.stringify({ report, session: tokensOf(entry) }, null, 2)}\n\`\`\``;
  return [...overview(report, entry), ...(form === "detail" ? details(report) : [])].join("\n");
};

function tokensOf(entry: SessionEntry | undefined): Readonly<Record<string, number | null>> {
  const { totalTokens = null, inputTokens = null, outputTokens = null, contextTokens = null } = entry ?? {};
  return { totalTokens, inputTokens, outputTokens, contextTokens };
}

function overview(report: SystemPromptReport, entry: SessionEntry | undefined): readonly string[] {
  const { systemPrompt, skills, tools, sandbox } = report;
  const files = report.injectedWorkspaceFiles.map(({ name, missing, truncated, rawChars, injectedChars }) => {
    if (missing) return `- ${name}: MISSING`;
    return `- ${name}: ${truncated ? "TRUNCATED" : "OK"} | raw ${size(rawChars)} | injected ${size(injectedChars)}`;
  });
  const names = tools.entries.map(({ name }) => name);
  return [
    `**Context** (${report.source === "run" ? "of the last run" : "estimate"})`,
    `Workspace: ${report.workspaceDir}`,
    `Bootstrap limit: ${report.bootstrapMaxChars} chars per file, ${report.bootstrapTotalMaxChars} in all`,
    `Sandbox: ${sandbox.mode}${sandbox.sandboxed ? ", this session runs in it" : ""}`,
    `System prompt (${report.source}): ${size(systemPrompt.chars)}, including project context ${size(systemPrompt.projectContextChars)}`,
    "Files:",
    ...files,
    `Skills list: ${size(skills.promptChars)}, ${skills.entries.length} skills`,
    `Tool list text: ${size(tools.listChars)}`,
    `Tool schemas (JSON): ${size(tools.schemaChars)}`,
    `Tools: ${names.slice(0, MOST_LISTED).join(", ")}${names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : ""}`,
    `Session: ${contextUse(entry, undefined) ?? "tokens unknown"}`,
  ];
}

function details({ skills, tools }: SystemPromptReport): readonly string[] {
  const bySize = [...tools.entries].sort((a, b) => b.schemaChars - a.schemaChars).slice(0, MOST_LISTED);
  const skillsBySize = [...skills.entries].sort((a, b) => b.blockChars - a.blockChars).slice(0, MOST_LISTED);
  return [
    "Skills by size:",
    ...skillsBySize.map(({ name, blockChars }) => `- ${name}: ${size(blockChars)}`),
    "Tools by size of schema:",
    ...bySize.map((tool) => `- ${tool.name}: schema ${size(tool.schemaChars)}, summary ${tool.summaryChars} chars, ${tool.propertiesCount} parameters`),
  ];
}

import type { ToolSchema } from "../../../protocol/index.ts";
import { PROMPT_ORDER, toolFacts } from "../../../tools/index.ts";
import type { PromptFacts } from "../facts.ts";
import { lines, oneLine } from "../line.ts";

const SUMMARY_CHARS = 160;

/** The tool's words for the list. A plugin's tool says it in the first line of its description. */
export function toolSummary(tool: ToolSchema): string {
  return toolFacts(tool.name)?.promptLine ?? oneLine(tool.description.trim().split("\n", 1)[0] ?? "", SUMMARY_CHARS);
}

/** Core tools in their fixed order, then the others by name: the order of registration does not show. */
export function listedTools(tools: readonly ToolSchema[]): readonly ToolSchema[] {
  const rank = (tool: ToolSchema): number => {
    const at = PROMPT_ORDER.indexOf(tool.name.toLowerCase());
    return at < 0 ? PROMPT_ORDER.length : at;
  };
  const byName = (a: ToolSchema, b: ToolSchema): number => (a.name < b.name ? -1 : Number(a.name > b.name));
  const once = new Map(tools.map((tool) => [tool.name.toLowerCase(), tool]));
  return [...once.values()].sort((a, b) => rank(a) - rank(b) || byName(a, b));
}

export function toolList(tools: readonly ToolSchema[]): string {
  return lines(
    ...listedTools(tools).map((tool) => {
      const summary = toolSummary(tool);
      return summary ? `- ${oneLine(tool.name)}: ${summary}` : `- ${oneLine(tool.name)}`;
    }),
  );
}

/** True when a tool of this name is offered. */
export function hasTool(facts: PromptFacts, name: string): boolean {
  return facts.tools.some((tool) => tool.name.toLowerCase() === name);
}

/** Skills and documentation are files: without a tool that reads them, naming them is of no use. */
export const canReadFiles = (facts: PromptFacts): boolean => hasTool(facts, "read") || hasTool(facts, "exec");

export function toolingSection(facts: PromptFacts): string {
  return lines(
    "## Tooling",
    facts.tools.length === 0
      ? "This run has no tools: answer with what you know, and say so when a task needs one."
      : "The tools of this run; nothing else can be called.",
    toolList(facts.tools),
    facts.files.files.some(({ name, text }) => name === "TOOLS.md" && text !== "") &&
      "`TOOLS.md` has the user's notes about their equipment; it neither grants nor removes a tool.",
    hasTool(facts, "exec") && commandLine(facts),
    hasTool(facts, "exec") &&
      hasTool(facts, "process") &&
      "Waiting for a slow command: give `exec` a longer `yieldMs`, or call `process` once with `action=poll` and a `timeout`, instead of asking every moment.",
    hasTool(facts, "sessions_spawn") &&
      "Hand long or separable work to a sub-agent. It reports by itself when it is finished, so look at `subagents` or `sessions_list` only to step in or when asked.",
  );
}

/** How commands run here, so that nothing has to be found out by trying. */
function commandLine({ host, sandbox, outputChars }: PromptFacts): string {
  const shell = sandbox?.sandboxed ? "sh inside the sandbox" : (host.shell ?? "sh");
  const limit = outputChars === undefined ? "" : ` Of output longer than ${outputChars} characters you see the beginning and the end; a file has all of it.`;
  return `Each \`exec\` runs in a new ${oneLine(shell)} and begins in the working folder: \`cd\`, variables and functions do not last until the next call. Use \`workdir\` and \`env\`, or one line (\`cd x && …\`).${limit}`;
}

export function toolStyleSection(): string {
  return lines(
    "## Tool Call Style",
    "Call tools without announcing them. Say a short sentence first only when the work is long, cannot be undone (deleting, sending, paying), or when asked.",
  );
}

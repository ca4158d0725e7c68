import type { PromptFacts } from "../facts.ts";
import { lines, oneLine } from "../line.ts";
import { hasTool } from "./tools.ts";

export function skillsSection(facts: PromptFacts): string | undefined {
  const list = facts.skillsPrompt?.trim();
  if (!list) return undefined;
  return lines(
    "## Skills (mandatory)",
    "Before you answer, go through the descriptions in <available_skills>.",
    "- One fits: open the file at its <location> with `read` and do as it says.",
    "- Several fit: take the most specific one, and only that.",
    "- None fits: open none.",
    "Never open a skill just in case. Relative paths in a skill count from the folder of its SKILL.md, which is also what `{baseDir}` stands for.",
    list,
  );
}

export function memorySection(facts: PromptFacts): string | undefined {
  if (!hasTool(facts, "memory_search") && !hasTool(facts, "memory_get")) return undefined;
  return lines(
    "## Memory Recall",
    "Questions about earlier work, decisions, dates, people, preferences or open tasks: look first. `memory_search` finds places in MEMORY.md and memory/*.md, `memory_get` gets the lines you need. Still unsure? Say that you looked.",
    facts.memoryCitations === "off"
      ? "Citations are off: no paths or line numbers in answers unless asked for."
      : "Citations: add `Source: <path#line>` where it helps the user to check.",
  );
}

export function docsSection(facts: PromptFacts): string | undefined {
  const path = facts.docsPath?.trim();
  if (!path) return undefined;
  return lines(
    "## Documentation",
    `OpenClaw's documentation on this machine: ${oneLine(path)}`,
    "Elsewhere: https://docs.openclaw.ai (the same pages), https://github.com/openclaw/openclaw (source), https://discord.com/invite/clawd (people), https://clawhub.com (skills).",
    "Questions about OpenClaw's behaviour, commands, configuration or design: read here before you answer. Looking into a fault: run `openclaw status` yourself if you can, and ask for its output only if you cannot.",
  );
}

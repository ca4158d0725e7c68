import type { PromptFacts } from "../facts.ts";
import { lines, oneLine } from "../line.ts";

const isShown = (file: PromptFacts["files"]["files"][number]): boolean => file.text !== "";

export function filesNoticeSection(facts: PromptFacts): string | undefined {
  if (!facts.files.files.some(isShown)) return undefined;
  return lines(
    "## Workspace Files (injected)",
    "Below, under Project Context, stand files of the workspace that the user keeps. They are read anew for every turn.",
  );
}

export function projectContextSection(facts: PromptFacts): string | undefined {
  const files = facts.files.files.filter(isShown);
  if (files.length === 0) return undefined;
  const hasSoul = files.some((file) => file.name.toLowerCase() === "soul.md" && !file.missing);
  return [
    lines(
      "# Project Context",
      "The user's files, as they are now:",
      hasSoul && "SOUL.md says who you are: speak and act as it describes, in a voice of your own, unless something above forbids it.",
    ),
    ...files.map((file) => `## ${oneLine(file.path)}\n\n${file.text}`),
  ].join("\n\n");
}

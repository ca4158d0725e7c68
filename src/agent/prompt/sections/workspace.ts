import type { PromptFacts, SandboxFacts } from "../facts.ts";
import { lines, oneLine } from "../line.ts";
import { hasTool } from "./tools.ts";

export function workspaceSection(facts: PromptFacts): string {
  const inside = facts.sandbox?.sandboxed ? facts.sandbox.workdir : undefined;
  const folder = oneLine(facts.workspaceDir);
  return lines(
    "## Workspace",
    `Working folder: ${inside === undefined ? folder : oneLine(inside)}`,
    inside === undefined
      ? "Files belong here unless asked otherwise."
      : `Commands run in that folder; \`read\`, \`write\`, \`edit\` and \`apply_patch\` count from ${folder} on the host. Relative paths mean the same in both.`,
    ...(facts.workspaceNotes ?? []).map((note) => oneLine(note)),
  );
}

export function sandboxSection(facts: PromptFacts): string | undefined {
  const { sandbox } = facts;
  if (!sandbox?.sandboxed) return undefined;
  return lines(
    "## Sandbox",
    "Your tools work inside a sandbox, and some are left out by its policy. For anything outside, ask.",
    hasTool(facts, "sessions_spawn") && "Sub-agents are inside as well.",
    sandbox.workdir !== undefined && `Folder inside: ${oneLine(sandbox.workdir)}`,
    sandbox.hostFolder !== undefined && `Folder on the host: ${oneLine(sandbox.hostFolder)}`,
    sandbox.workspaceAccess !== undefined &&
      `Access to the agent's workspace: ${sandbox.workspaceAccess}${sandbox.workspaceMount === undefined ? "" : ` (at ${oneLine(sandbox.workspaceMount)})`}`,
    ...browserLines(sandbox),
    sandbox.elevated !== undefined &&
      `Commands on the host are possible here. Who may switches with /elevated on|off|ask|full; now: ${sandbox.elevated} (ask: each needs approval, full: none does).`,
  );
}

function browserLines({ browser }: SandboxFacts): readonly (string | false)[] {
  if (!browser) return [];
  return [
    browser.inside && "Browser: inside the sandbox.",
    browser.observerUrl !== undefined && `To watch it (noVNC): ${oneLine(browser.observerUrl)}`,
    browser.hostAllowed !== undefined && `The host's browser: ${browser.hostAllowed ? "allowed" : "not allowed"}.`,
  ];
}

/** The day and the zone: a clock would make every prompt a new one. */
export function timeSection(facts: PromptFacts): string | undefined {
  const zone = facts.timezone?.trim();
  if (!zone) return undefined;
  return lines(
    "## Current Date & Time",
    facts.today !== undefined && `Today: ${oneLine(facts.today)}`,
    `Time zone: ${oneLine(zone)}`,
    (facts.timeFormat === "12" || facts.timeFormat === "24") && `Time format: ${facts.timeFormat}-hour`,
    hasTool(facts, "session_status") && "`session_status` shows the time of day.",
  );
}

/** The prompt names the folder once. */
const shownPath = (path: string, folder: string): string => (path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path);

const isShown = (file: PromptFacts["files"]["files"][number]): boolean => file.text !== "";

export function filesNoticeSection(facts: PromptFacts): string | undefined {
  if (!facts.files.files.some(isShown)) return undefined;
  return lines("## Workspace Files (injected)", "They stand below, under Project Context, as they are now.");
}

export function projectContextSection(facts: PromptFacts): string | undefined {
  const files = facts.files.files.filter(isShown);
  if (files.length === 0) return undefined;
  const unfilled = facts.files.files.filter((file) => file.unfilled).map(({ name }) => oneLine(name));
  const hasSoul = files.some((file) => file.name.toLowerCase() === "soul.md" && !file.missing);
  return [
    lines(
      "# Project Context",
      hasSoul && "SOUL.md says who you are: speak and act as it describes unless something above forbids it.",
      unfilled.length > 0 && `Not filled in yet: ${unfilled.join(", ")}.`,
    ),
    ...files.map((file) => `## ${oneLine(shownPath(file.path, facts.workspaceDir))}\n\n${file.text}`),
  ].join("\n\n");
}

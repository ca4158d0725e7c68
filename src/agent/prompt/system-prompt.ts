import type { PromptFacts } from "./facts.ts";
import { promptReport, type PromptReport } from "./report.ts";
import {
  cliSection,
  docsSection,
  IDENTITY_LINE,
  memorySection,
  modelAliasesSection,
  ownersSection,
  safetySection,
  selfUpdateSection,
  skillsSection,
} from "./sections/agent.ts";
import { heartbeatsSection, messagingSection, replyTagsSection, silentRepliesSection } from "./sections/replies.ts";
import { toolingSection, toolStyleSection } from "./sections/tools.ts";
import {
  channelSection,
  inboundSection,
  instructionsSection,
  reactionsSection,
  reasoningFormatSection,
  runtimeSection,
  voiceSection,
} from "./sections/turn.ts";
import { filesNoticeSection, projectContextSection, sandboxSection, timeSection, workspaceSection } from "./sections/workspace.ts";

type Section = (facts: PromptFacts) => string | undefined;

const onlyIn =
  (mode: PromptFacts["mode"]) =>
  (section: Section): Section =>
  (facts) =>
    facts.mode === mode ? section(facts) : undefined;

/** A section that sub-agents do without. */
const fullOnly = onlyIn("full");
/** Where a section stands that may be another one for each sub-agent: the prompts of all sub-agents of an agent begin with the same bytes. */
const minimalOnly = onlyIn("minimal");

/** All sections in their order: first what stays the same in a session, then its files, then what a turn may change; the runtime line is last. */
const SECTIONS: readonly Section[] = [
  () => IDENTITY_LINE,
  toolingSection,
  toolStyleSection,
  safetySection,
  cliSection,
  fullOnly(skillsSection),
  fullOnly(memorySection),
  fullOnly(selfUpdateSection),
  fullOnly(modelAliasesSection),
  workspaceSection,
  fullOnly(docsSection),
  fullOnly(sandboxSection),
  fullOnly(ownersSection),
  timeSection,
  filesNoticeSection,
  fullOnly(replyTagsSection),
  fullOnly(messagingSection),
  fullOnly(silentRepliesSection),
  fullOnly(heartbeatsSection),
  projectContextSection,
  fullOnly(channelSection),
  fullOnly(voiceSection),
  inboundSection,
  instructionsSection,
  minimalOnly(sandboxSection),
  reactionsSection,
  reasoningFormatSection,
  runtimeSection,
];

export interface SystemPrompt {
  readonly text: string;
  readonly report: PromptReport;
}

/** The system prompt of a turn, and how long each part of it is. The same facts give the same bytes. */
export function buildSystemPrompt(facts: PromptFacts): SystemPrompt {
  if (facts.mode === "none") return { text: IDENTITY_LINE, report: promptReport(facts, { chars: IDENTITY_LINE.length, projectContextChars: 0 }) };
  const text = SECTIONS.map((section) => section(facts))
    .filter((part): part is string => Boolean(part))
    .join("\n\n");
  return { text, report: promptReport(facts, { chars: text.length, projectContextChars: projectContextSection(facts)?.length ?? 0 }) };
}

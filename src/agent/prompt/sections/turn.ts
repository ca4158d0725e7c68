import type { PromptFacts } from "../facts.ts";
import { lines, oneLine } from "../line.ts";
import { hasTool } from "./tools.ts";

const hasButtons = (facts: PromptFacts): boolean => (facts.turn.capabilities ?? []).some((name) => name.toLowerCase() === "inlinebuttons");

/** What the message tool can do on the channel of this turn. */
export function channelSection(facts: PromptFacts): string | undefined {
  const { channel, buttonsOff, messageHints = [] } = facts.turn;
  if (channel === undefined || !hasTool(facts, "message")) return undefined;
  const name = oneLine(channel);
  return lines(
    `## Channel: ${name}`,
    hasButtons(facts)
      ? "- Buttons: `action=send` with `buttons=[[{text,callback_data}]]`; a pressed button comes back as a message with its callback_data."
      : buttonsOff === true &&
          `- Buttons are off here. If you need them, ask for \`channels.${name}.capabilities.inlineButtons\` ("dm", "group", "all" or "allowlist").`,
    ...messageHints.map((hint) => `- ${oneLine(hint).replace(/^-\s*/, "")}`),
  );
}

export function voiceSection(facts: PromptFacts): string | undefined {
  const hint = facts.turn.voiceHint?.trim();
  return hint ? lines("## Voice (TTS)", hint) : undefined;
}

/** Where the message came from, as the gateway knows it. */
export function inboundSection({ turn }: PromptFacts): string | undefined {
  return turn.inbound ? lines("## Inbound context (trusted)", turn.inbound) : undefined;
}

export function instructionsSection({ mode, turn }: PromptFacts): string | undefined {
  const text = turn.instructions?.trim();
  if (!text) return undefined;
  if (mode === "minimal") return lines("## Subagent Context", text);
  return lines(turn.direct ? "## Direct Chat Context" : "## Group Chat Context", text);
}

export function reactionsSection(facts: PromptFacts): string | undefined {
  const { reactions, channel } = facts.turn;
  if (reactions === undefined || channel === undefined) return undefined;
  return lines(
    "## Reactions",
    reactions === "minimal"
      ? `You can react to messages on ${oneLine(channel)}; do it rarely (MINIMAL): for a request or decision that matters or a moment that earns it, at most once in five to ten messages, never to your own.`
      : `You can react to messages on ${oneLine(channel)}, and often (EXTENSIVE): to acknowledge, to agree, to enjoy, wherever a person would.`,
  );
}

export function reasoningFormatSection(facts: PromptFacts): string | undefined {
  if (!facts.turn.thinkTags) return undefined;
  return lines(
    "## Reasoning Format",
    "Every answer has two parts and nothing around them: <think>what you consider</think><final>what the user reads</final>.",
    "Only what stands in <final> is delivered; everything else is thrown away.",
  );
}

export function runtimeSection(facts: PromptFacts): string {
  return lines(
    "## Runtime",
    runtimeLine(facts),
    `Reasoning: ${facts.turn.reasoning ?? "off"} (shown only with on or stream; /reasoning switches it, /status shows it).`,
  );
}

function runtimeLine({ mode, agentId, host, turn }: PromptFacts): string {
  // What a sub-agent answers goes to no channel: its prompt is the same whichever one the task came from.
  const channel = mode === "minimal" ? undefined : turn.channel;
  const system = host.os === undefined ? host.arch && `arch=${host.arch}` : `os=${host.os}${host.arch ? ` (${host.arch})` : ""}`;
  const parts = [
    `agent=${agentId}`,
    host.host && `host=${host.host}`,
    host.repoRoot && `repo=${host.repoRoot}`,
    system,
    host.node && `node=${host.node}`,
    turn.model && `model=${turn.model}`,
    turn.defaultModel && `default_model=${turn.defaultModel}`,
    host.shell && `shell=${host.shell}`,
    channel && `channel=${channel}`,
    channel && turn.capabilities && `capabilities=${turn.capabilities.length > 0 ? turn.capabilities.join(",") : "none"}`,
    `thinking=${turn.thinking ?? "off"}`,
  ];
  return `Runtime: ${parts
    .filter((part): part is string => Boolean(part))
    .map((part) => oneLine(part))
    .join(" | ")}`;
}

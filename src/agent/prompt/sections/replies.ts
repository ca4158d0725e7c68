import type { PromptFacts } from "../facts.ts";
import { lines, oneLine } from "../line.ts";
import { hasTool } from "./tools.ts";

/** The whole answer when there is nothing to say. */
export const SILENT_REPLY = "NO_REPLY";
/** The answer to a heartbeat when nothing needs attention. */
export const HEARTBEAT_ACK = "HEARTBEAT_OK";

export function replyTagsSection(): string {
  return lines(
    "## Reply Tags",
    "One tag in your answer makes it a quoted reply where the channel can do that; it is taken out before sending.",
    "- [[reply_to_current]] quotes the message you are answering. This is the one to use.",
    "- [[reply_to:<id>]] quotes another message, if you were given its id.",
    "Spaces inside do not matter: [[ reply_to_current ]], [[ reply_to: 123 ]].",
  );
}

export function messagingSection(facts: PromptFacts): string {
  const channels = [...(facts.channels ?? [])].sort().map((channel) => oneLine(channel));
  return lines(
    "## Messaging",
    "- What you answer goes back to where the message came from; OpenClaw delivers it. Never reach a messenger with commands or web requests of your own.",
    hasTool(facts, "sessions_send") && "- Another session: `sessions_send(sessionKey, message)`.",
    hasTool(facts, "subagents") && "- Sub-agents: `subagents(action=list|steer|kill)`.",
    "- `[System Message] …` is for you; users do not see it. If one reports finished work (a job, a sub-agent) and asks you to tell the user, tell it in your own words, neither copied nor kept silent.",
    hasTool(facts, "message") &&
      lines(
        "### message tool",
        "- For messages that are not the answer, and for polls, reactions and other actions of a channel. `action=send` needs `to` and `message`.",
        channels.length > 1 && `- Say which channel: \`channel\` is one of ${channels.join("|")}.`,
        `- If you sent your answer with it, end with ${SILENT_REPLY} alone, or it arrives twice.`,
      ),
  );
}

export function silentRepliesSection(): string {
  return lines(
    "## Silent Replies",
    `Nothing to say? Then the whole answer is: ${SILENT_REPLY}`,
    "It stands alone: no other word, no quotation marks, no formatting, and never at the end of a real answer.",
  );
}

/** Only where something sends heartbeats. */
export function heartbeatsSection(facts: PromptFacts): string | undefined {
  const prompt = facts.heartbeatPrompt?.trim();
  if (!prompt) return undefined;
  return lines(
    "## Heartbeats",
    `Heartbeat prompt: ${oneLine(prompt)}`,
    `Now and then that prompt comes as a message. If nothing needs attention, answer exactly ${HEARTBEAT_ACK}; it is taken as a sign of life and not delivered.`,
    `If something does, write what it is, without ${HEARTBEAT_ACK}.`,
  );
}

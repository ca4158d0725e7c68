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
    "[[reply_to_current]] in an answer makes it a quoted reply where the channel can do that; [[reply_to:<id>]] quotes another message. The tag is not shown.",
  );
}

export function messagingSection(facts: PromptFacts): string {
  const channels = [...(facts.channels ?? [])].sort().map((channel) => oneLine(channel));
  return lines(
    "## Messaging",
    "- Your answer goes back to where the message came from. Never reach a messenger with commands or web requests of your own.",
    hasTool(facts, "sessions_send") && "- Another session: `sessions_send(sessionKey, message)`.",
    hasTool(facts, "subagents") && "- Sub-agents: `subagents(action=list|steer|kill)`.",
    "- `[System Message] …` is for you alone. If it reports finished work for the user, pass that on in your own words.",
    hasTool(facts, "message") &&
      lines(
        "### message tool",
        "- For messages that are not the answer, and for polls, reactions and the like. `action=send` needs `to` and `message`.",
        channels.length > 1 && `- Say which channel: \`channel\` is one of ${channels.join("|")}.`,
        `- If you sent your answer with it, end with ${SILENT_REPLY} alone, or it arrives twice.`,
      ),
  );
}

export function silentRepliesSection(): string {
  return lines(
    "## Silent Replies",
    `Nothing to say? Then the whole answer is ${SILENT_REPLY}, without any other word or formatting; never put it behind a real answer.`,
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

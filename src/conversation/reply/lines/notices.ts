/** What is said beside an answer. */
import type { ReplyPayload } from "../../../protocol/index.ts";

/** The model's thoughts as a message of their own. */
export function reasoningPayload(thoughts: string): ReplyPayload | undefined {
  const text = thoughts.trim();
  return text === "" ? undefined : { text: `Reasoning:\n${text}`, isReasoning: true };
}

export const compactionNotice = (done: boolean): ReplyPayload => ({
  text: done
    ? "🧹 The conversation was long: its older part is now a summary."
    : "🧹 The conversation is long, and its older part could not be made a summary.",
  isCompactionNotice: true,
});

export const newSessionNotice = (sessionId: string): ReplyPayload => ({ text: `🧭 New session: ${sessionId}`, isStatusNotice: true });

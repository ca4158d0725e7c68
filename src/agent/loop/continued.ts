import type { CallResult } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage, UserMessage } from "../../protocol/index.ts";

/** How often an answer that was cut off is gone on with. */
const MAX_CONTINUED = 3;

const GO_ON =
  "Your answer was cut off because it reached the length limit. Continue it exactly where it stopped, in the same format. Do not repeat anything, do not greet, do not comment on this.";

/** One question to the model. */
export interface Heard {
  readonly result: CallResult;
  /** What was shown of the answer, whole. */
  readonly text: string;
}

export interface ContinuePorts {
  /** Asks with what belongs to this question alone; `shown` is what the user has seen of the answer. */
  ask(only: readonly ModelMessage[], shown: string): Promise<Heard>;
  spent(part: AssistantMessage): void;
  now(): number;
}

/** Text that ends in the middle is safe to go on with. A call is not: half of it must never be made. */
function isCut({ stopReason, content }: AssistantMessage): boolean {
  return stopReason === "length" && content.every(({ type }) => type !== "toolCall") && content.some((part) => part.type === "text" && part.text.trim() !== "");
}

/**
 * An answer that reached its length limit, with the rest of it, as one answer. When the rest cannot be had, it is what came so far, and says that it
 * was cut off.
 */
export async function wholeAnswer(first: Heard, ports: ContinuePorts): Promise<Heard> {
  let heard = first;
  for (let more = 0; more < MAX_CONTINUED && heard.result.ok && isCut(heard.result.message); more += 1) {
    const part: AssistantMessage = heard.result.message;
    const goOn: UserMessage = { role: "user", content: [{ type: "text", text: GO_ON }], timestamp: ports.now() };
    const next = await ports.ask([part, goOn], heard.text);
    if (!next.result.ok) return next.result.kind === "aborted" ? next : heard;
    ports.spent(part);
    heard = { text: next.text, result: { ...next.result, message: joined(part, next.result.message) } };
  }
  return heard;
}

/** Two parts of an answer as one. Thoughts of the second were about going on. */
function joined(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const content = [...first.content];
  for (const part of second.content) {
    if (part.type === "thinking") continue;
    const last = content.at(-1);
    if (part.type === "text" && last?.type === "text") content[content.length - 1] = { type: "text", text: last.text + part.text };
    else content.push(part);
  }
  return { ...second, content };
}

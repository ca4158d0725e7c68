import type { CallResult } from "../../models/index.ts";
import type { AssistantMessage, ModelMessage, UserMessage } from "../../protocol/index.ts";

/** How often an answer that was cut off is gone on with. */
const MAX_CONTINUED = 3;

const GO_ON =
  "Your answer was cut off before its end: it reached the length limit, or the provider paused it. Continue it exactly where it stopped, in the same format. Do not repeat anything, do not greet, do not comment on this.";

const ANSWER_NOW =
  "You reached the length limit while you were still thinking, before your answer began. Think no further than necessary, and give the answer to the message above now. Do not comment on this.";

/** So much of the end of a thought is given back to the model. */
const MOST_THOUGHT_CHARS = 4000;

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

/** Text that ends in the middle is safe to go on with, and so is a thought. A call is not: half of it must never be made. */
function isCut({ stopReason, content }: AssistantMessage): boolean {
  return stopReason === "length" && content.length > 0 && content.every(({ type }) => type !== "toolCall");
}

/** What the model is sent to go on. A thought alone is no answer that could be sent back: its end is part of the request. */
function goingOn(part: AssistantMessage, timestamp: number): readonly ModelMessage[] {
  const ask = (text: string): UserMessage => ({ role: "user", content: [{ type: "text", text }], timestamp });
  if (part.content.some((one) => one.type === "text" && one.text.trim() !== "")) return [part, ask(GO_ON)];
  const thought = part.content.flatMap((one) => (one.type === "thinking" ? [one.thinking] : [])).join("\n");
  const end = thought.slice(-MOST_THOUGHT_CHARS).toWellFormed().trim();
  return [ask(end === "" ? ANSWER_NOW : `${ANSWER_NOW}\n\nYour thoughts so far ended with:\n${end}`)];
}

/**
 * An answer that reached its length limit, with the rest of it, as one answer. When the rest cannot be had, it is what came so far, and says that it
 * was cut off.
 */
export async function wholeAnswer(first: Heard, ports: ContinuePorts): Promise<Heard> {
  let heard = first;
  for (let more = 0; more < MAX_CONTINUED && heard.result.ok && isCut(heard.result.message); more += 1) {
    const part: AssistantMessage = heard.result.message;
    const next = await ports.ask(goingOn(part, ports.now()), heard.text);
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

import type { AssistantMessage, ImageContent, ModelMessage, TextContent, ToolCallContent, ToolResultMessage } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";

/** Requirements of a provider. */
export interface HistoryRules {
  /** Rewrites a tool-call id; call and result get the same one, and ids stay unique. */
  readonly toolId?: (id: string) => string;
  /** What happens to reasoning: `own` keeps what this very model signed and drops the rest, `text` turns it into text, `drop` removes it. */
  readonly thinking: "own" | "text" | "drop";
}

const NO_RESULT = "No result: the call was interrupted before its outcome was known.";
const IMAGE_LEFT_OUT = "(image left out: this model takes text only)";

type AssistantPart = AssistantMessage["content"][number];

/**
 * Any history in a form that a provider accepts: every tool call is followed by its result and every result follows its call; empty and failed
 * answers, parts this
 * model cannot read and reasoning it did not sign are left out. Total: it never throws.
 */
export function prepareHistory(messages: readonly ModelMessage[], model: ModelEntry, rules: HistoryRules): readonly ModelMessage[] {
  const preparation: Preparation = { model, rules, seesImages: model.input.includes("image"), results: new Map(), ids: new Map(), taken: new Set() };
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const waiting = preparation.results.get(message.toolCallId);
    if (waiting) waiting.push(message);
    else preparation.results.set(message.toolCallId, [message]);
  }
  const prepared: ModelMessage[] = [];
  for (const message of messages) {
    if (message.role === "assistant") prepared.push(...answerWithResults(message, preparation));
    if (message.role !== "user") continue;
    const content = preparation.seesImages || typeof message.content === "string" ? message.content : withoutImages(message.content);
    prepared.push(content === message.content ? message : { ...message, content });
  }
  return prepared;
}

interface Preparation {
  readonly model: ModelEntry;
  readonly rules: HistoryRules;
  readonly seesImages: boolean;
  /** Results by the id of their call, in order: an id may have been used twice. */
  readonly results: Map<string, ToolResultMessage[]>;
  /** Rewritten ids by the original ones. */
  readonly ids: Map<string, string>;
  readonly taken: Set<string>;
}

function answerWithResults(message: AssistantMessage, preparation: Preparation): ModelMessage[] {
  const { model, rules, results } = preparation;
  // A failed or aborted answer was never acted on: its calls have no results and its text was not accepted.
  if (message.stopReason === "error" || message.stopReason === "aborted") {
    const texts = message.content.filter((part) => part.type === "text" && part.text.trim() !== "");
    return texts.length === 0 ? [] : [{ ...message, content: texts }];
  }
  const own = message.provider === model.provider && message.api === model.api && message.model === model.id;
  const content: AssistantPart[] = [];
  const after: ToolResultMessage[] = [];
  for (const part of message.content) {
    if (part.type === "toolCall") {
      const id = wireId(part.id, preparation);
      const call: ToolCallContent = id === part.id ? part : { ...part, id };
      content.push(own || call.thoughtSignature === undefined ? call : withoutSignature(call));
      after.push(resultFor(call, results.get(part.id)?.shift(), preparation));
    } else if (part.type === "thinking") content.push(...thinkingParts(part, rules.thinking, own));
    else if (part.text.trim() !== "") content.push(own || part.textSignature === undefined ? part : { type: "text", text: part.text });
  }
  return content.length === 0 ? [] : [{ ...message, content }, ...after];
}

function withoutSignature({ type, id, name, arguments: args }: ToolCallContent): ToolCallContent {
  return { type, id, name, arguments: args };
}

function thinkingParts(part: Extract<AssistantPart, { type: "thinking" }>, rule: HistoryRules["thinking"], own: boolean): AssistantPart[] {
  if (rule === "own" && own && (part.thinkingSignature !== undefined || part.redacted)) return [part];
  if (rule === "text" && part.thinking.trim() !== "") return [{ type: "text", text: part.thinking }];
  return [];
}

/** A tool's own data (`details`) is only for display. */
function resultFor(call: ToolCallContent, result: ToolResultMessage | undefined, { seesImages }: Preparation): ToolResultMessage {
  if (!result) {
    return { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text: NO_RESULT }], isError: true, timestamp: 0 };
  }
  const { details: _, content, ...rest } = result;
  return { ...rest, toolCallId: call.id, content: seesImages ? content : withoutImages(content) };
}

function withoutImages(parts: readonly (TextContent | ImageContent)[]): readonly (TextContent | ImageContent)[] {
  return parts.some((part) => part.type === "image") ? parts.map((part) => (part.type === "image" ? { type: "text", text: IMAGE_LEFT_OUT } : part)) : parts;
}

/** The same id gives the same new one; different ids never do. */
function wireId(id: string, { rules: { toolId }, ids, taken }: Preparation): string {
  if (!toolId) return id;
  const found = ids.get(id);
  if (found !== undefined) return found;
  let next = toolId(id);
  for (let n = 2; taken.has(next); n += 1) next = toolId(`${n}${id}`);
  ids.set(id, next);
  taken.add(next);
  return next;
}

/** The text of a message's content, images left aside. */
export function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" && part.text !== undefined ? [part.text] : [])).join("\n");
}

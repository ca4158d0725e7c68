import type { AssistantMessage, ImageContent, ModelMessage, TextContent, ToolCallContent, ToolResultMessage, UserMessage } from "../../protocol/index.ts";
import type { ModelEntry } from "../entry.ts";
import { remembered } from "./remembered.ts";

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
  const ids = idMap(rules.toolId);
  const results = collectResults(messages);
  const prepared: ModelMessage[] = [];
  for (const message of messages) {
    if (message.role === "user") prepared.push(withContent(message, readable(message.content, model)));
    else if (message.role === "assistant") prepared.push(...answerWithResults(message, { model, rules, results, ids }));
  }
  return prepared;
}

interface Preparation {
  readonly model: ModelEntry;
  readonly rules: HistoryRules;
  readonly results: Map<string, ToolResultMessage[]>;
  readonly ids: (id: string) => string;
}

/** Results by the id of their call, in order: an id may have been used twice. */
function collectResults(messages: readonly ModelMessage[]): Map<string, ToolResultMessage[]> {
  const results = new Map<string, ToolResultMessage[]>();
  for (const message of messages) {
    if (message.role !== "toolResult") continue;
    const waiting = results.get(message.toolCallId);
    if (waiting) waiting.push(message);
    else results.set(message.toolCallId, [message]);
  }
  return results;
}

function answerWithResults(message: AssistantMessage, preparation: Preparation): ModelMessage[] {
  const { model, rules, results, ids } = preparation;
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
      const id = ids(part.id);
      const call: ToolCallContent = id === part.id ? part : { ...part, id };
      content.push(own || call.thoughtSignature === undefined ? call : withoutSignature(call));
      const result = results.get(part.id)?.shift();
      after.push(resultFor(call, result, model));
    } else if (part.type === "thinking") content.push(...thinkingParts(part, rules.thinking, own));
    else if (part.text.trim() !== "") content.push(own || part.textSignature === undefined ? part : { type: "text", text: part.text });
  }
  if (content.length === 0) return [];
  // Unchanged parts stay the same object, so that callers can compare identities.
  const same = content.length === message.content.length && content.every((part, index) => part === message.content[index]);
  return [same ? message : { ...message, content }, ...after];
}

function withContent<M extends UserMessage | ToolResultMessage>(message: M, content: M["content"]): M {
  return content === message.content ? message : { ...message, content };
}

function withoutSignature({ type, id, name, arguments: args }: ToolCallContent): ToolCallContent {
  return { type, id, name, arguments: args };
}

function thinkingParts(part: Extract<AssistantPart, { type: "thinking" }>, rule: HistoryRules["thinking"], own: boolean): AssistantPart[] {
  if (rule === "own" && own && (part.thinkingSignature !== undefined || part.redacted)) return [part];
  if (rule === "text" && part.thinking.trim() !== "") return [{ type: "text", text: part.thinking }];
  return [];
}

function resultFor(call: ToolCallContent, result: ToolResultMessage | undefined, model: ModelEntry): ToolResultMessage {
  if (!result) {
    return { role: "toolResult", toolCallId: call.id, toolName: call.name, content: [{ type: "text", text: NO_RESULT }], isError: true, timestamp: 0 };
  }
  const bare = withoutDetails(result);
  const content = readableParts(bare.content, model);
  return bare.toolCallId === call.id && content === bare.content ? bare : { ...bare, toolCallId: call.id, content };
}

/** A tool's own data is only for display. */
const withoutDetails = remembered((result: ToolResultMessage): ToolResultMessage => {
  const { details: _, ...rest } = result;
  return rest;
});

function readable(content: string | readonly (TextContent | ImageContent)[], model: ModelEntry): string | readonly (TextContent | ImageContent)[] {
  return typeof content === "string" ? content : readableParts(content, model);
}

function readableParts(parts: readonly (TextContent | ImageContent)[], model: ModelEntry): readonly (TextContent | ImageContent)[] {
  if (model.input.includes("image") || !parts.some((part) => part.type === "image")) return parts;
  return parts.map((part) => (part.type === "image" ? { type: "text", text: IMAGE_LEFT_OUT } : part));
}

/** The same id gives the same new one; different ids never do. */
function idMap(rewrite: ((id: string) => string) | undefined): (id: string) => string {
  if (!rewrite) return (id) => id;
  const known = new Map<string, string>();
  const taken = new Set<string>();
  return (id) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    let next = rewrite(id);
    for (let n = 2; taken.has(next); n += 1) next = rewrite(`${n}${id}`);
    known.set(id, next);
    taken.add(next);
    return next;
  };
}

/** The text of a message's content, images left aside. */
export function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => (part.type === "text" && part.text !== undefined ? [part.text] : [])).join("\n");
}

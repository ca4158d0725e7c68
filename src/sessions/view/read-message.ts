import type { AssistantMessage, ImageContent, ModelMessage, StopReason, TextContent, ToolCallContent, Usage } from "../../protocol/index.ts";
import { readImage } from "./images.ts";
import { countOf, cut, fieldsOf, filledText, textOf, type Fields } from "./value.ts";

type Part = TextContent | ImageContent;

/** Text and images of whatever stands as content; other blocks and blank texts are left out. */
export function readParts(content: unknown): Part[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [{ type: "text", text: content.toWellFormed() }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown): Part[] => {
    const fields = fieldsOf(block);
    if (fields?.["type"] === "image") return [readImage(fields)];
    const text = fields?.["type"] === "text" ? filledText(fields["text"]) : undefined;
    return text === undefined ? [] : [{ type: "text", text }];
  });
}

/** `[Inter-session message] sourceSession=…`: a prompt that another session sent is no user's word. */
function provenancePrefix(value: unknown): string | undefined {
  const fields = fieldsOf(value);
  if (fields?.["kind"] !== "inter_session") return undefined;
  const facts = (["sourceSessionKey", "sourceChannel", "sourceTool"] as const).flatMap((name) => {
    const fact = filledText(fields[name])?.replaceAll(/\s+/g, " ").trim();
    return fact === undefined ? [] : [`${name === "sourceSessionKey" ? "sourceSession" : name}=${cut(fact, 300)}`];
  });
  return ["[Inter-session message]", ...facts].join(" ");
}

function prefixed(parts: Part[], prefix: string): Part[] {
  const [first, ...rest] = parts;
  return first?.type === "text" ? [{ type: "text", text: `${prefix}\n${first.text}` }, ...rest] : [{ type: "text", text: prefix }, ...parts];
}

/** A message in the user's place; undefined when it says nothing. */
export function userMessage(content: unknown, timestamp: number, provenance?: unknown): ModelMessage | undefined {
  const parts = readParts(content);
  if (parts.length === 0) return undefined;
  const prefix = provenancePrefix(provenance);
  return { role: "user", content: prefix === undefined ? parts : prefixed(parts, prefix), timestamp };
}

const NOT_IN_A_NAME = /[^A-Za-z0-9_-]/g;
const MAX_NAME = 64;

/** A tool's name in the characters that every provider takes. */
function toolName(value: unknown): string | undefined {
  const name = filledText(value)?.trim().replaceAll(NOT_IN_A_NAME, "_").slice(0, MAX_NAME);
  return name === undefined || name === "" ? undefined : name;
}

/** What an escape of half a surrogate pair looks like in JSON. */
const HALF_PAIR = /\\ud[89a-f]/i;

/** Arguments as plain JSON data; undefined when they are none. */
function readArguments(value: unknown): Fields | undefined {
  if (!fieldsOf(value)) return undefined;
  const json = JSON.stringify(value);
  if (json === undefined) return undefined;
  const read = HALF_PAIR.test(json) ? JSON.parse(json, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part)) : JSON.parse(json);
  return fieldsOf(read);
}

/** Undefined for a call without an id, a name or arguments: a stream that broke off left it. */
function readCall(block: Fields): ToolCallContent | undefined {
  const id = filledText(block["id"])?.trim();
  const name = toolName(block["name"]);
  const args = readArguments(block["arguments"]);
  if (id === undefined || name === undefined || args === undefined) return undefined;
  const signature = textOf(block["thoughtSignature"]);
  const wrong = textOf(block["argumentsError"]);
  const extras = { ...(signature === undefined ? {} : { thoughtSignature: signature }), ...(wrong === undefined ? {} : { argumentsError: wrong }) };
  return { type: "toolCall", id, name, arguments: args, ...extras };
}

function readAnswerParts(content: unknown): AssistantMessage["content"][number][] {
  if (!Array.isArray(content)) return readParts(content).filter((part) => part.type === "text");
  return content.flatMap((block: unknown): AssistantMessage["content"][number][] => {
    const fields = fieldsOf(block);
    if (fields?.["type"] === "toolCall") return [readCall(fields)].filter((call) => call !== undefined);
    if (fields?.["type"] === "thinking") return readThinking(fields);
    const text = fields?.["type"] === "text" ? filledText(fields["text"]) : undefined;
    const signature = textOf(fields?.["textSignature"]);
    return text === undefined ? [] : [{ type: "text", text, ...(signature === undefined ? {} : { textSignature: signature }) }];
  });
}

function readThinking(fields: Fields): AssistantMessage["content"][number][] {
  const thinking = textOf(fields["thinking"]) ?? "";
  const signature = filledText(fields["thinkingSignature"]);
  if (thinking.trim() === "" && signature === undefined) return [];
  const redacted = fields["redacted"] === true && signature !== undefined;
  return [{ type: "thinking", thinking, ...(signature === undefined ? {} : { thinkingSignature: signature }), ...(redacted ? { redacted } : {}) }];
}

export function readUsage(value: unknown): Usage {
  const usage = fieldsOf(value) ?? {};
  const cost = fieldsOf(usage["cost"]) ?? {};
  const [input, output, cacheRead, cacheWrite] = ["input", "output", "cacheRead", "cacheWrite"].map((name) => countOf(usage[name])) as [
    number,
    number,
    number,
    number,
  ];
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: countOf(usage["totalTokens"]) || input + output + cacheRead + cacheWrite,
    cost: {
      input: countOf(cost["input"]),
      output: countOf(cost["output"]),
      cacheRead: countOf(cost["cacheRead"]),
      cacheWrite: countOf(cost["cacheWrite"]),
      total: countOf(cost["total"]),
    },
  };
}

const STOP_REASONS: readonly string[] = ["stop", "length", "toolUse", "error", "aborted"] satisfies StopReason[];

/** An answer; undefined when nothing is left of it. What a failed or aborted one wanted to call was never run. */
function readAnswer(message: Fields, timestamp: number): AssistantMessage | undefined {
  const reason = message["stopReason"];
  const parts = readAnswerParts(message["content"]);
  const broken = reason === "error" || reason === "aborted";
  const content = broken ? parts.filter((part) => part.type === "text") : parts;
  if (!content.some((part) => part.type !== "thinking")) return undefined;
  const calls = content.some((part) => part.type === "toolCall");
  return {
    role: "assistant",
    content,
    api: textOf(message["api"]) ?? "",
    provider: textOf(message["provider"]) ?? "",
    model: textOf(message["model"]) ?? "",
    usage: readUsage(message["usage"]),
    stopReason: STOP_REASONS.includes(reason as string) ? (reason as StopReason) : calls ? "toolUse" : "stop",
    timestamp,
  };
}

function readResult(message: Fields, timestamp: number): ModelMessage | undefined {
  const toolCallId = filledText(message["toolCallId"])?.trim();
  if (toolCallId === undefined) return undefined;
  return {
    role: "toolResult",
    toolCallId,
    toolName: toolName(message["toolName"]) ?? "unknown",
    content: readParts(message["content"]),
    isError: message["isError"] === true,
    timestamp,
  };
}

/** A command that a person ran beside the conversation. */
function shellMessage(message: Fields, timestamp: number): ModelMessage | undefined {
  const command = filledText(message["command"]);
  if (command === undefined || message["excludeFromContext"] === true) return undefined;
  const output = filledText(message["output"]) ?? "(no output)";
  const code = message["exitCode"];
  const end = message["cancelled"] === true ? "\n(cancelled)" : typeof code === "number" && code !== 0 ? `\n(exit code ${code})` : "";
  return userMessage(`A command was run: ${command}\n\n${output}${end}`, timestamp);
}

/** Anything that stands as a message in a transcript, as a model may see it. Undefined when it says nothing to a model. */
export function readMessage(value: unknown, at: number): ModelMessage | undefined {
  const message = fieldsOf(value);
  if (!message) return undefined;
  const timestamp = countOf(message["timestamp"]) || at;
  switch (message["role"]) {
    case "user":
      return userMessage(message["content"], timestamp, message["provenance"]);
    case "assistant":
      return readAnswer(message, timestamp);
    case "toolResult":
      return readResult(message, timestamp);
    case "bashExecution":
      return shellMessage(message, timestamp);
    case "custom":
    case "hookMessage":
      return userMessage(message["content"], timestamp);
    default:
      return undefined;
  }
}

import { checkImage } from "../../base/image-check.ts";
import { isRecord } from "../../base/records.ts";
import { formatBytes } from "../../base/text.ts";
import type { AssistantMessage, ImageContent, ModelMessage, StopReason, TextContent, ToolCallContent, Usage } from "../../protocol/index.ts";

/** Reading values that nothing has checked. */
type Fields = Readonly<Record<string, unknown>>;

/** Well-formed Unicode: half a surrogate pair is refused by providers. */
function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value.toWellFormed() : undefined;
}

export function filledText(value: unknown): string | undefined {
  return typeof value !== "string" || value.trim() === "" ? undefined : value.toWellFormed();
}

export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Cuts to `max` characters, never inside a surrogate pair. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, Math.max(max, 0)).replace(/[\uD800-\uDBFF]$/, "");
}

/** Decoded size above which providers refuse an image. */
const MAX_IMAGE_BYTES = 5 * 1024 * 1024;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const DATA_URL = /^data:[^,]{0,100};base64,/;

const imageNote = (text: string): TextContent => ({ type: "text", text: `[image omitted: ${text}]` });

/** An image block as providers take it, or a note in its place. What it claims to be does not count, its bytes do. */
function readImage(block: Fields): ImageContent | TextContent {
  const data = textOf(block["data"])?.replace(DATA_URL, "") ?? "";
  const bytes = Math.floor((data.length * 3) / 4);
  if (bytes > MAX_IMAGE_BYTES) return imageNote(`${formatBytes(bytes)} exceeds ${formatBytes(MAX_IMAGE_BYTES)}`);
  if (data.length % 4 !== 0 || !BASE64.test(data)) return imageNote(data === "" ? "it is empty" : "its data is damaged");
  const { type, problem } = checkImage(Buffer.from(data, "base64"));
  return problem === undefined ? { type: "image", data, mimeType: type } : imageNote(problem);
}

/** Stands where an image was that is too old to be shown again. */
export const OLDER_IMAGE: TextContent = imageNote("only later images are shown");

/** Stands where an image was that the provider refused. */
export const REFUSED_IMAGE: TextContent = imageNote("the provider rejected the earlier images");

type Part = TextContent | ImageContent;

/** Text and images of whatever stands as content; other blocks and blank texts are left out. */
function readParts(content: unknown): Part[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [{ type: "text", text: content.toWellFormed() }];
  const parts: Part[] = [];
  for (const block of Array.isArray(content) ? content : []) {
    if (!isRecord(block)) continue;
    const text = block["type"] === "text" ? filledText(block["text"]) : undefined;
    if (block["type"] === "image") parts.push(readImage(block));
    else if (text !== undefined) parts.push({ type: "text", text });
  }
  return parts;
}

/** `[Inter-session message] sourceSession=…`: a prompt that another session sent is not the user's message. */
function provenancePrefix(fields: unknown): string | undefined {
  if (!isRecord(fields) || fields["kind"] !== "inter_session") return undefined;
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

/** A message with the user's role; undefined when it is empty. */
export function readUserMessage(content: unknown, timestamp: number, provenance?: unknown): ModelMessage | undefined {
  const parts = readParts(content);
  if (parts.length === 0) return undefined;
  const prefix = provenance === undefined ? undefined : provenancePrefix(provenance);
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
  if (!isRecord(value)) return undefined;
  const json = JSON.stringify(value);
  if (json === undefined) return undefined;
  const read = HALF_PAIR.test(json) ? JSON.parse(json, (_, part: unknown) => (typeof part === "string" ? part.toWellFormed() : part)) : JSON.parse(json);
  return isRecord(read) ? read : undefined;
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

type AnswerPart = AssistantMessage["content"][number];

function readAnswerParts(content: unknown): readonly AnswerPart[] {
  if (!Array.isArray(content)) return readParts(content).filter((part) => part.type === "text");
  const parts: AnswerPart[] = [];
  for (const block of content) {
    const part = isRecord(block) ? readAnswerPart(block) : undefined;
    if (part) parts.push(part);
  }
  return parts;
}

function readAnswerPart(block: Fields): AnswerPart | undefined {
  if (block["type"] === "toolCall") return readCall(block);
  if (block["type"] === "thinking") return readThinking(block);
  const text = block["type"] === "text" ? filledText(block["text"]) : undefined;
  const signature = textOf(block["textSignature"]);
  return text === undefined ? undefined : { type: "text", text, ...(signature === undefined ? {} : { textSignature: signature }) };
}

function readThinking(fields: Fields): AnswerPart | undefined {
  const thinking = textOf(fields["thinking"]) ?? "";
  const signature = filledText(fields["thinkingSignature"]);
  if (thinking.trim() === "" && signature === undefined) return undefined;
  const redacted = fields["redacted"] === true && signature !== undefined;
  return { type: "thinking", thinking, ...(signature === undefined ? {} : { thinkingSignature: signature }), ...(redacted ? { redacted } : {}) };
}

function readUsage(value: unknown): Usage {
  const usage = isRecord(value) ? value : {};
  const cost = isRecord(usage["cost"]) ? usage["cost"] : {};
  const input = countOf(usage["input"]);
  const output = countOf(usage["output"]);
  const cacheRead = countOf(usage["cacheRead"]);
  const cacheWrite = countOf(usage["cacheWrite"]);
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

const STOP_REASONS: readonly StopReason[] = ["stop", "length", "toolUse", "error", "aborted"];

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
    stopReason: STOP_REASONS.find((known) => known === reason) ?? (calls ? "toolUse" : "stop"),
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
  return readUserMessage(`A command was run: ${command}\n\n${output}${end}`, timestamp);
}

/** Anything that stands as a message in a transcript, as a model may see it. Undefined when there is nothing in it for a model. */
export function readMessage(message: unknown, at: number): ModelMessage | undefined {
  if (!isRecord(message)) return undefined;
  const timestamp = countOf(message["timestamp"]) || at;
  switch (message["role"]) {
    case "user":
      return readUserMessage(message["content"], timestamp, message["provenance"]);
    case "assistant":
      return readAnswer(message, timestamp);
    case "toolResult":
      return readResult(message, timestamp);
    case "bashExecution":
      return shellMessage(message, timestamp);
    case "custom":
    case "hookMessage":
      return readUserMessage(message["content"], timestamp);
    default:
      return undefined;
  }
}

import type { AssistantMessage, ImageContent, TextContent, ToolResultMessage } from "../../../protocol/index.ts";
import type { WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { alphanumericId } from "../tool-ids.ts";

type Part = Record<string, unknown>;
interface Content {
  readonly role: "user" | "model";
  readonly parts: Part[];
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Turns alternate and begin with the user. */
export function googleContents(request: WireRequest): readonly Content[] {
  const contents: Content[] = [];
  const add = (role: Content["role"], parts: readonly Part[]): void => {
    if (parts.length === 0) return;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts: [...parts] });
  };
  for (const message of prepareHistory(request.messages, request.model, { toolId: alphanumericId, thinking: "own" })) {
    if (message.role === "user") add("user", userParts(message.content));
    else if (message.role === "assistant") add("model", modelParts(message));
    else add("user", resultParts(message));
  }
  if (contents[0]?.role === "model") contents.unshift({ role: "user", parts: [{ text: "(continued)" }] });
  return contents;
}

function userParts(content: string | readonly (TextContent | ImageContent)[]): readonly Part[] {
  if (typeof content === "string") return content === "" ? [] : [{ text: content }];
  return content.flatMap((part): Part[] => {
    if (part.type === "image") return [{ inlineData: { mimeType: part.mimeType, data: part.data } }];
    return part.text === "" ? [] : [{ text: part.text }];
  });
}

/** Signatures that are no base64 come from another provider and are refused. */
function signature(value: string | undefined): Part {
  return value !== undefined && value.length % 4 === 0 && BASE64.test(value) ? { thoughtSignature: value } : {};
}

function modelParts({ content }: AssistantMessage): readonly Part[] {
  return content.map((part) => {
    if (part.type === "text") return { text: part.text, ...signature(part.textSignature) };
    if (part.type === "thinking") return { text: part.thinking, thought: true, ...signature(part.thinkingSignature) };
    return { functionCall: { name: part.name, args: part.arguments }, ...signature(part.thoughtSignature) };
  });
}

function resultParts(result: ToolResultMessage): readonly Part[] {
  const text = textOf(result.content);
  const images = result.content.filter((part) => part.type === "image");
  const said = text === "" ? (images.length > 0 ? "(see the image)" : "(no output)") : text;
  return [{ functionResponse: { name: result.toolName, response: result.isError ? { error: said } : { output: said } } }, ...userParts(images)];
}

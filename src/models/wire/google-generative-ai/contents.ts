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

/** Turns alternate and start with the user. */
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
    else if (message.role === "assistant") add("model", modelParts(message, needsSignatures(request.model.id)));
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

/** Signatures that are not base64 come from another provider and are refused. */
function signature(value: string | undefined): Part {
  return value !== undefined && value.length % 4 === 0 && BASE64.test(value) ? { thoughtSignature: value } : {};
}

/** The documented placeholder for calls without a signature: those of other models, or from before this one signed. */
const UNSIGNED = "skip_thought_signature_validator";

/** From Gemini 3 on, the first call of a step without a signature is refused. */
const needsSignatures = (id: string): boolean => Number(/gemini-(\d+)/.exec(id)?.[1] ?? 0) >= 3;

function modelParts({ content }: AssistantMessage, signed: boolean): readonly Part[] {
  const parts: Part[] = content.map((part) => {
    if (part.type === "text") return { text: part.text, ...signature(part.textSignature) };
    if (part.type === "thinking") return { text: part.thinking, thought: true, ...signature(part.thinkingSignature) };
    return { functionCall: { name: part.name, args: part.arguments }, ...signature(part.thoughtSignature) };
  });
  const first = parts.findIndex((part) => part["functionCall"] !== undefined);
  if (signed && first >= 0 && parts[first]!["thoughtSignature"] === undefined) parts[first] = { ...parts[first], thoughtSignature: UNSIGNED };
  return parts;
}

function resultParts(result: ToolResultMessage): readonly Part[] {
  const text = textOf(result.content);
  const images = result.content.filter((part) => part.type === "image");
  const said = text === "" ? (images.length > 0 ? "(see the image)" : "(no output)") : text;
  return [{ functionResponse: { name: result.toolName, response: result.isError ? { error: said } : { output: said } } }, ...userParts(images)];
}

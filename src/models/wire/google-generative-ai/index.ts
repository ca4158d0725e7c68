import type { AssistantMessage, ImageContent, TextContent, ThinkingLevel, ToolResultMessage } from "../../../protocol/index.ts";
import type { WireFormat, WireRequest } from "../format.ts";
import { prepareHistory, textOf } from "../history.ts";
import { extraBody, outputLimit, paramFields, requestHeaders, temperatureOf, type ParamFields } from "../request-fields.ts";
import { alphanumericId } from "../tool-ids.ts";
import { googleSchema } from "../tool-schema.ts";
import { googleReader } from "./reader.ts";

/** `POST <base>/models/<id>:streamGenerateContent?alt=sse`. */
export const googleGenerativeAi: WireFormat = {
  api: "google-generative-ai",
  framing: "sse",
  address: (request) => ({
    url: `${request.model.baseUrl.replace(/\/+$/, "")}/models/${encodeURIComponent(request.model.id)}:streamGenerateContent?alt=sse`,
    headers: requestHeaders(
      request,
      request.model.authHeader && request.apiKey !== undefined ? { authorization: `Bearer ${request.apiKey}` } : { "x-goog-api-key": request.apiKey },
    ),
  }),
  body,
  reader: googleReader,
};

const PARAMS: ParamFields = {
  fields: {
    topP: "topP",
    topK: "topK",
    seed: "seed",
    stop: "stopSequences",
    frequencyPenalty: "frequencyPenalty",
    presencePenalty: "presencePenalty",
  },
};

function body(request: WireRequest): Record<string, unknown> {
  const { tools, systemPrompt } = request;
  const temperature = temperatureOf(request);
  return {
    ...(systemPrompt ? { systemInstruction: { parts: [{ text: systemPrompt }] } } : {}),
    ...(tools && tools.length > 0
      ? {
          tools: [
            { functionDeclarations: tools.map((tool) => ({ name: tool.name, description: tool.description, parameters: googleSchema(tool.parameters) })) },
          ],
        }
      : {}),
    contents: contentsOf(request),
    generationConfig: {
      maxOutputTokens: outputLimit(request),
      ...(temperature === undefined ? {} : { temperature }),
      ...paramFields(request, PARAMS),
      ...thinkingConfig(request),
    },
    ...extraBody(request),
  };
}

type Level = Exclude<ThinkingLevel, "off">;
const PRO_LEVELS: Readonly<Record<Level, string>> = { minimal: "LOW", low: "LOW", medium: "HIGH", high: "HIGH", xhigh: "HIGH" };
const FLASH_LEVELS: Readonly<Record<Level, string>> = { minimal: "MINIMAL", low: "LOW", medium: "MEDIUM", high: "HIGH", xhigh: "HIGH" };
const PRO_BUDGETS: Readonly<Record<Level, number>> = { minimal: 128, low: 2048, medium: 8192, high: 32_768, xhigh: 32_768 };
const FLASH_BUDGETS: Readonly<Record<Level, number>> = { minimal: 128, low: 2048, medium: 8192, high: 24_576, xhigh: 24_576 };
/** Let the model decide. */
const DYNAMIC = -1;

function thinkingConfig({ model, thinking }: WireRequest): Record<string, unknown> {
  if (!model.reasoning) return {};
  const pro = model.id.includes("pro");
  if (/gemini-[3-9]/.test(model.id)) {
    if (thinking === "off") return { thinkingConfig: { thinkingLevel: pro ? "LOW" : "MINIMAL" } };
    return { thinkingConfig: { includeThoughts: true, thinkingLevel: (pro ? PRO_LEVELS : FLASH_LEVELS)[thinking] } };
  }
  if (thinking === "off") return pro ? {} : { thinkingConfig: { thinkingBudget: 0 } };
  const budget = model.id.includes("2.5-pro") ? PRO_BUDGETS[thinking] : model.id.includes("2.5-flash") ? FLASH_BUDGETS[thinking] : DYNAMIC;
  return { thinkingConfig: { includeThoughts: true, thinkingBudget: budget } };
}

type Part = Record<string, unknown>;
interface Content {
  readonly role: "user" | "model";
  readonly parts: Part[];
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Turns alternate and start with the user. */
function contentsOf(request: WireRequest): readonly Content[] {
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
  const first = parts.find((part) => part["functionCall"] !== undefined);
  if (signed && first && first["thoughtSignature"] === undefined) first["thoughtSignature"] = UNSIGNED;
  return parts;
}

function resultParts(result: ToolResultMessage): readonly Part[] {
  const text = textOf(result.content);
  const images = result.content.filter((part) => part.type === "image");
  const output = text === "" ? (images.length > 0 ? "(see the image)" : "(no output)") : text;
  return [{ functionResponse: { name: result.toolName, response: result.isError ? { error: output } : { output } } }, ...userParts(images)];
}

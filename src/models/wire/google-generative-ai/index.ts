import type { ThinkingLevel } from "../../../protocol/index.ts";
import type { WireFormat, WireRequest } from "../format.ts";
import { requestHeaders } from "../headers.ts";
import { outputLimit, temperatureOf } from "../limits.ts";
import { extraBody, paramFields, type ParamFields } from "../params.ts";
import { googleSchema } from "../tool-schema.ts";
import { googleContents } from "./contents.ts";
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
  reader: (request, { now }) => googleReader(request, now),
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
    contents: googleContents(request),
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

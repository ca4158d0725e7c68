/** Providers that make pictures over HTTP. */
import { askProvider } from "../base/ask-provider.ts";
import { AppError } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import type { RawImage, RawImages } from "./types.ts";

export interface ProviderCall {
  readonly provider: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly model: string;
  readonly prompt: string;
  readonly count: number;
  readonly size?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export const GOOGLE = "google";
export const USUAL_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  [GOOGLE]: "https://generativelanguage.googleapis.com/v1beta",
};

/** Four pictures of 16 MB in base64, and some. */
const MAX_ANSWER = 96 * 1024 * 1024;

async function ask({ provider, key, timeoutMs, signal }: ProviderCall, url: string, headers: Readonly<Record<string, string>>, body: object) {
  const all = { "content-type": "application/json", ...headers };
  const bytes = await askProvider({ name: provider, url, headers: all, body: JSON.stringify(body), key, maxBytes: MAX_ANSWER, timeoutMs, signal });
  try {
    return JSON.parse(bytes.toString("utf8")) as unknown;
  } catch {
    throw new AppError("UNAVAILABLE", `${provider} returned a response that is not JSON; check its address`);
  }
}

const listIn = (value: unknown, name: string): readonly unknown[] => {
  const found = isRecord(value) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
};

function countIn(answer: unknown, group: string, name: string): number {
  const used = isRecord(answer) && isRecord(answer[group]) ? answer[group][name] : undefined;
  return typeof used === "number" && used > 0 ? used : 0;
}

/** OpenAI, and every server that takes what it takes. */
async function openAiLike(call: ProviderCall): Promise<RawImages> {
  const { baseUrl, key, model, prompt, count, size } = call;
  // The older models answer with an address unless they are asked not to; the newer ones do not know the question.
  const form = model.startsWith("dall-e") ? { response_format: "b64_json" } : {};
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const body = { model, prompt, n: count, ...(size === undefined ? {} : { size }), ...form };
  const answer = await ask(call, `${baseUrl}/images/generations`, headers, body);
  const images = listIn(answer, "data").flatMap((item): readonly RawImage[] => {
    if (!isRecord(item) || typeof item["b64_json"] !== "string") return [];
    const revised = item["revised_prompt"];
    return [{ data: Buffer.from(item["b64_json"], "base64"), ...(typeof revised === "string" ? { revisedPrompt: revised } : {}) }];
  });
  return { images, input: countIn(answer, "usage", "input_tokens"), output: countIn(answer, "usage", "output_tokens") };
}

async function google(call: ProviderCall): Promise<RawImages> {
  const { baseUrl, key, model, prompt, count } = call;
  const images: RawImage[] = [];
  let [input, output] = [0, 0];
  // One picture to an answer.
  for (let made = 0; made < count; made += 1) {
    const headers: Record<string, string> = key === undefined ? {} : { "x-goog-api-key": key };
    const body = { contents: [{ role: "user", parts: [{ text: prompt }] }], generationConfig: { responseModalities: ["TEXT", "IMAGE"] } };
    const answer = await ask(call, `${baseUrl}/models/${encodeURIComponent(model)}:generateContent`, headers, body);
    const [candidate] = listIn(answer, "candidates");
    const parts = listIn(isRecord(candidate) ? candidate["content"] : undefined, "parts");
    for (const part of parts) {
      const inline = isRecord(part) ? (part["inlineData"] ?? part["inline_data"]) : undefined;
      if (isRecord(inline) && typeof inline["data"] === "string") images.push({ data: Buffer.from(inline["data"], "base64") });
    }
    input += countIn(answer, "usageMetadata", "promptTokenCount");
    output += countIn(answer, "usageMetadata", "candidatesTokenCount");
  }
  return { images, input, output };
}

export const askForImages = (call: ProviderCall): Promise<RawImages> => (call.provider === GOOGLE ? google : openAiLike)(call);

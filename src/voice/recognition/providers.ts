/** Providers that recognise speech over HTTP. */
import { basename } from "node:path";
import { askProvider } from "../../base/ask-provider.ts";
import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { extensionForMime } from "../../media/index.ts";
import type { AudioModel, RecogniseRequest } from "./types.ts";

/** What a provider is asked with: of the entry, over that of all speech. */
export type ProviderSettings = {
  readonly [Key in "model" | "prompt" | "language" | "headers" | "providerOptions" | "deepgram"]?: AudioModel[Key] | undefined;
};

export interface ProviderCall extends RecogniseRequest {
  readonly provider: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly settings: ProviderSettings;
}

interface KnownProvider {
  readonly baseUrl: string;
  readonly model: string;
}

/** In the order in which keys are looked for. */
export const KNOWN_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  openai: { baseUrl: "https://api.openai.com/v1", model: "gpt-4o-mini-transcribe" },
  groq: { baseUrl: "https://api.groq.com/openai/v1", model: "whisper-large-v3-turbo" },
  deepgram: { baseUrl: "https://api.deepgram.com/v1", model: "nova-3" },
  google: { baseUrl: "https://generativelanguage.googleapis.com/v1beta", model: "gemini-3-flash-preview" },
};

const MAX_ANSWER = 4 * 1024 * 1024;
const PROMPT = "Transcribe the speech in this recording word for word. Answer with the words only.";

function parsed(bytes: Buffer, provider: string): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new AppError("UNAVAILABLE", `${provider} returned a response that is not JSON; check its address`);
  }
}

function textAt(value: unknown, path: readonly (string | number)[], provider: string): string {
  let found = value;
  for (const key of path)
    found = typeof key === "number" ? (Array.isArray(found) ? (found as readonly unknown[])[key] : undefined) : isRecord(found) ? found[key] : undefined;
  if (typeof found !== "string") throw new AppError("UNAVAILABLE", `${provider} returned no transcript`);
  return found.trim();
}

/** A name that cannot leave its header, with an ending that the provider knows the type by. */
function fileNameOf(path: string, mimeType: string): string {
  const ending = /\.[a-z0-9]{1,5}$/i.exec(basename(path))?.[0] ?? extensionForMime(mimeType) ?? ".ogg";
  return `audio${ending === ".oga" || ending === ".opus" ? ".ogg" : ending}`;
}

function form(fields: Readonly<Record<string, string | undefined>>, { path, mimeType, bytes }: RecogniseRequest) {
  const boundary = `openclaw-${crypto.randomUUID()}`;
  const head = (about: string): string => `--${boundary}\r\ncontent-disposition: form-data; ${about}\r\n`;
  const texts = Object.entries(fields).flatMap(([name, value]) => (value === undefined || value === "" ? [] : [`${head(`name="${name}"`)}\r\n${value}\r\n`]));
  const file = `${head(`name="file"; filename="${fileNameOf(path, mimeType)}"`)}content-type: ${mimeType}\r\n\r\n`;
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([Buffer.from(texts.join("") + file), bytes, Buffer.from(`\r\n--${boundary}--\r\n`)]),
  };
}

/** A transcript, the model that gave it, and the tokens that it took as far as the provider says. */
export interface Heard {
  readonly text: string;
  readonly model: string;
  readonly input: number;
  readonly output: number;
}

function countAt(answer: unknown, group: string, name: string): number {
  const used = isRecord(answer) && isRecord(answer[group]) ? answer[group][name] : undefined;
  return typeof used === "number" && used > 0 ? used : 0;
}

type Speak = (call: ProviderCall) => Promise<Heard>;

const ask = ({ provider, key, timeoutMs, signal, settings }: ProviderCall, url: string, headers: Readonly<Record<string, string>>, body: string | Uint8Array) =>
  askProvider({
    name: provider,
    url,
    headers: { ...headers, ...Object.fromEntries(Object.entries(settings.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])) },
    body,
    key,
    maxBytes: MAX_ANSWER,
    timeoutMs,
    signal,
  });

/** OpenAI, Groq, and every server that takes what they take. */
const openAiLike: Speak = async (call) => {
  const { provider, baseUrl, key, settings } = call;
  const model = settings.model ?? KNOWN_PROVIDERS[provider]?.model ?? "whisper-1";
  const { type, body } = form({ model, language: settings.language, prompt: settings.prompt }, call);
  const bytes = await ask(
    call,
    `${baseUrl}/audio/transcriptions`,
    { "content-type": type, ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
    body,
  );
  const answer = parsed(bytes, provider);
  return {
    text: textAt(answer, ["text"], provider),
    model,
    input: countAt(answer, "usage", "input_tokens"),
    output: countAt(answer, "usage", "output_tokens"),
  };
};

const deepgram: Speak = async (call) => {
  const { provider, baseUrl, key, settings, mimeType, bytes: audio } = call;
  const { detectLanguage, punctuate, smartFormat } = settings.deepgram ?? {};
  const options = { detect_language: detectLanguage, punctuate, smart_format: smartFormat, ...settings.providerOptions?.["deepgram"] };
  const url = new URL(`${baseUrl}/listen`);
  const model = settings.model ?? KNOWN_PROVIDERS["deepgram"]!.model;
  url.searchParams.set("model", model);
  if (settings.language !== undefined) url.searchParams.set("language", settings.language);
  for (const [name, value] of Object.entries(options)) if (value !== undefined) url.searchParams.set(name, String(value));
  const bytes = await ask(call, url.href, { "content-type": mimeType, ...(key === undefined ? {} : { authorization: `Token ${key}` }) }, audio);
  const text = textAt(parsed(bytes, provider), ["results", "channels", 0, "alternatives", 0, "transcript"], provider);
  return { text, model, input: 0, output: 0 };
};

const google: Speak = async (call) => {
  const { provider, baseUrl, key, settings, mimeType, bytes: audio } = call;
  const language = settings.language === undefined ? "" : ` The language is ${settings.language}.`;
  const parts = [{ text: (settings.prompt ?? PROMPT) + language }, { inline_data: { mime_type: mimeType, data: audio.toString("base64") } }];
  const model = settings.model ?? KNOWN_PROVIDERS["google"]!.model;
  const headers = { "content-type": "application/json", ...(key === undefined ? {} : { "x-goog-api-key": key }) };
  const bytes = await ask(
    call,
    `${baseUrl}/models/${encodeURIComponent(model)}:generateContent`,
    headers,
    JSON.stringify({ contents: [{ role: "user", parts }] }),
  );
  const answer = parsed(bytes, provider);
  const [candidate] = isRecord(answer) && Array.isArray(answer["candidates"]) ? (answer["candidates"] as readonly unknown[]) : [];
  const content = isRecord(candidate) && isRecord(candidate["content"]) ? candidate["content"]["parts"] : undefined;
  const texts = Array.isArray(content) ? content.flatMap((part: unknown) => (isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : [])) : [];
  if (texts.length === 0) throw new AppError("UNAVAILABLE", `${provider} returned no transcript`);
  const used = (name: string): number => countAt(answer, "usageMetadata", name);
  return { text: texts.join("").trim(), model, input: used("promptTokenCount"), output: used("candidatesTokenCount") };
};

/** Asks a provider what is said in a recording. */
export const askForTranscript: Speak = (call) => (call.provider === "deepgram" ? deepgram : call.provider === "google" ? google : openAiLike)(call);

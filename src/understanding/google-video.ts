/** Google's models take films as they are. */
import { AppError } from "../base/errors.ts";
import { guardedFetch } from "../base/guarded-fetch.ts";
import { isRecord } from "../base/records.ts";
import { clip } from "../base/text.ts";
import type { AuthProfiles, ModelEntry } from "../models/index.ts";
import type { RequestSettings } from "./settings.ts";

/** Largest film that fits into a request. */
export const MAX_GOOGLE_BYTES = 14 * 1024 * 1024;
const MAX_ANSWER = 1024 * 1024;

export const takesFilms = ({ api }: ModelEntry): boolean => api === "google-generative-ai";

interface FilmQuestion {
  readonly entry: ModelEntry;
  readonly auth: Pick<AuthProfiles, "candidates" | "credential">;
  readonly data: Buffer;
  readonly mimeType: string;
  readonly settings: RequestSettings;
  readonly signal: AbortSignal;
}

async function keyFor(auth: FilmQuestion["auth"], provider: string): Promise<string> {
  for (const candidate of await auth.candidates(provider)) {
    if (candidate.type !== "api_key") continue;
    const { apiKey } = (await auth.credential(candidate).catch(() => undefined)) ?? {};
    if (apiKey !== undefined) return apiKey;
  }
  throw new AppError("UNAVAILABLE", `there is no API key for ${provider}`);
}

function textIn(answer: unknown): string {
  const candidates = isRecord(answer) && Array.isArray(answer["candidates"]) ? answer["candidates"] : [];
  const content: unknown = isRecord(candidates[0]) ? candidates[0]["content"] : undefined;
  const parts = isRecord(content) && Array.isArray(content["parts"]) ? content["parts"] : [];
  return parts.flatMap((part) => (isRecord(part) && typeof part["text"] === "string" ? [part["text"]] : [])).join("");
}

const countIn = (answer: unknown, name: string): number => {
  const used = isRecord(answer) && isRecord(answer["usageMetadata"]) ? answer["usageMetadata"][name] : undefined;
  return typeof used === "number" && used > 0 ? used : 0;
};

/** A description, and the tokens that it took. */
interface FilmAnswer {
  readonly text: string;
  readonly input: number;
  readonly output: number;
}

export async function askGoogleAboutFilm({ entry, auth, data, mimeType, settings, signal }: FilmQuestion): Promise<FilmAnswer> {
  const key = await keyFor(auth, entry.provider);
  const url = `${entry.baseUrl.replace(/\/+$/, "")}/models/${encodeURIComponent(entry.id)}:generateContent`;
  const { host, hostname } = new URL(url);
  // The operator named this host. Nothing is followed from it: the key goes nowhere else.
  using answer = await guardedFetch({
    url,
    method: "POST",
    headers: { "content-type": "application/json", ...entry.headers, "x-goog-api-key": key },
    body: JSON.stringify({
      contents: [{ role: "user", parts: [{ inlineData: { mimeType, data: data.toString("base64") } }, { text: settings.prompt }] }],
    }),
    maxRedirects: 0,
    timeoutMs: settings.timeoutMs,
    signal,
    policy: { allowedHostnames: [hostname] },
    isAllowed: (target) => target.host === host,
  });
  const { bytes } = await answer.read(MAX_ANSWER);
  const text = bytes.toString("utf8");
  if (answer.status !== 200)
    throw new AppError("UNAVAILABLE", `${entry.provider} answered with status ${answer.status}: ${clip(text.replaceAll(key, "…"), 200)}`);
  try {
    const parsed: unknown = JSON.parse(text);
    return { text: textIn(parsed), input: countIn(parsed, "promptTokenCount"), output: countIn(parsed, "candidatesTokenCount") };
  } catch {
    throw new AppError("UNAVAILABLE", `${entry.provider} returned a response that is not JSON`);
  }
}

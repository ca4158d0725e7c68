/** Has a model or a program describe a picture or a film. */
import { stat, writeFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { AppError } from "../base/errors.ts";
import { readRegular } from "../base/open-below.ts";
import { isRecord } from "../base/records.ts";
import { clip, formatBytes } from "../base/text.ts";
import { extensionForMime, loadFrames } from "../media/index.ts";
import type { ModelEntry } from "../models/index.ts";
import type { ImageContent } from "../protocol/index.ts";
import type { UnderstandingDeps } from "./deps.ts";
import { askGoogleAboutFilm, MAX_GOOGLE_BYTES, takesFilms } from "./google-video.ts";
import { whenAborted } from "../base/when-aborted.ts";
import { askProgram } from "./ask-program.ts";
import { isProgram, requestSettings, type Candidate, type MediaCapability, type MediaModel, type RequestSettings } from "./settings.ts";
import type { ReceivedFile, UnderstandingRequest } from "./types.ts";

/** Frames of a film that a model is shown. */
const FRAMES = 6;
const MAX_TOKENS = 1024;

/** One way to have a file described. */
export type Attempt =
  | { readonly by: string; readonly candidate: Candidate }
  /** Chosen because nothing is configured. */
  | { readonly by: string; readonly entry: ModelEntry };

export interface Description {
  readonly text: string;
  readonly by: string;
}

interface Work {
  readonly request: UnderstandingRequest;
  readonly file: ReceivedFile;
  readonly capability: MediaCapability;
  readonly settings: RequestSettings;
  readonly signal: AbortSignal;
}

export const nameOf = ({ provider, model, command }: MediaModel): string =>
  provider === undefined ? (command ?? model ?? "?") : `${provider}/${model ?? "default"}`;

async function headersOf({ config }: UnderstandingDeps, { model, path }: Candidate, capability: MediaCapability): Promise<Readonly<Record<string, string>>> {
  const section = config.current.tools?.media?.[capability];
  const all = [
    ...Object.entries(section?.headers ?? {}).map(([name, value]) => ({ name, value, at: `tools.media.${capability}.headers.${name}` })),
    ...Object.entries(model.headers ?? {}).map(([name, value]) => ({ name, value, at: `${path}.headers.${name}` })),
  ];
  const resolved = await Promise.all(all.map(async ({ name, value, at }) => [name, await config.resolveSecret(value, at)] as const));
  return Object.fromEntries(resolved);
}

/** The model of an entry, with the address and headers that it sets. */
async function entryOf(deps: UnderstandingDeps, candidate: Candidate, { request: { agentId }, capability }: Work): Promise<ModelEntry> {
  const { model } = candidate;
  const { catalogue } = await (await deps.models()).choices(agentId);
  const provider = model.provider?.trim().toLowerCase();
  if (provider === undefined || provider === "") throw new AppError("CONFIG_INVALID", `${candidate.path} names no provider`);
  const sees = (entry: ModelEntry): boolean => entry.input.includes("image");
  const found = model.model ? catalogue.find({ provider, id: model.model }) : catalogue.list({ provider, absent: true }).find(sees);
  if (!found) throw new AppError("NOT_FOUND", `no model ${nameOf(model)} is known; check ${candidate.path}`);
  const baseUrl = model.baseUrl ?? deps.config.current.tools?.media?.[capability]?.baseUrl;
  const headers = await headersOf(deps, candidate, capability);
  return {
    ...found,
    // Named for this: the catalogue may not know that it sees.
    input: ["text", "image"],
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(Object.keys(headers).length === 0 ? {} : { headers: { ...found.headers, ...headers } }),
  };
}

async function askModel(
  deps: UnderstandingDeps,
  entry: ModelEntry,
  images: readonly ImageContent[],
  prompt: string,
  work: Work,
  model?: MediaModel,
): Promise<string> {
  const { runId, agentId, sessionKey } = work.request;
  const content = [{ type: "text" as const, text: prompt }, ...images];
  const profile = model?.profile ?? model?.preferredProfile;
  const options = model?.providerOptions?.[entry.provider] ?? deps.config.current.tools?.media?.[work.capability]?.providerOptions?.[entry.provider];
  const models = await deps.models();
  const began = deps.clock.monotonic();
  const payer = { agentId, sessionKey, runId };
  const call = models.call(agentId, {
    runId,
    agentId,
    sessionKey,
    models: [entry],
    messages: [{ role: "user", content, timestamp: deps.clock.now() }],
    thinking: "off",
    maxTokens: MAX_TOKENS,
    signal: work.signal,
    permit: async ({ provider }) => deps.spending?.refusal({ ...payer, provider }),
    ...(options === undefined ? {} : { params: () => options }),
    ...(profile === undefined ? {} : { pin: { profileId: profile, locked: model?.profile !== undefined } }),
  });
  for await (const event of call) {
    if (event.type !== "done") continue;
    const { provider, model: id, usage } = event.result.message;
    const { input, output, cacheRead, cacheWrite } = usage;
    const used = { provider, model: id, input, output, cacheRead, cacheWrite, cost: usage.cost.total, failed: !event.result.ok };
    await deps.spending?.spent({ ...payer, ...used, durationMs: deps.clock.monotonic() - began });
    if (!event.result.ok) throw new AppError("UNAVAILABLE", event.result.text);
    return event.result.message.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  }
  throw new AppError("INTERNAL", "the model call ended without a result");
}

/** As a model takes it. */
async function imageOf({ fitImages }: UnderstandingDeps, file: ReceivedFile): Promise<ImageContent> {
  const image: ImageContent = file.image ?? { type: "image", mimeType: file.mimeType, data: (await readRegular(file.path ?? "")).toString("base64") };
  const [fitted] = await fitImages([image]);
  if (fitted?.type !== "image") throw new AppError("INVALID_INPUT", fitted?.text ?? "the image cannot be read");
  return fitted;
}

async function describeFilm(deps: UnderstandingDeps, entry: ModelEntry, work: Work, model?: MediaModel): Promise<string> {
  const { file, settings, signal, request } = work;
  const path = file.path;
  if (path === undefined) throw new AppError("INVALID_INPUT", "the video is not stored");
  if (takesFilms(entry) && (await stat(path)).size <= MAX_GOOGLE_BYTES) {
    const auth = (await deps.models()).auth(request.agentId);
    const { agentId, sessionKey, runId } = request;
    const payer = { agentId, sessionKey, runId };
    const refusal = await deps.spending?.refusal({ ...payer, provider: entry.provider });
    if (refusal !== undefined) throw new AppError("UNAVAILABLE", refusal);
    const began = deps.clock.monotonic();
    const answer = await askGoogleAboutFilm({ entry, auth, data: await readRegular(path), mimeType: file.mimeType, settings, signal });
    const { input, output } = answer;
    const cost = (input * entry.cost.input + output * entry.cost.output) / 1_000_000;
    await deps.spending?.spent({ ...payer, provider: entry.provider, model: entry.id, input, output, cost, durationMs: deps.clock.monotonic() - began });
    return answer.text;
  }
  const { framesOf } = await loadFrames();
  const { pictures, seconds } = await framesOf({ path, mimeType: file.mimeType, count: FRAMES, timeoutMs: settings.timeoutMs, env: deps.config.env(), signal });
  const images = pictures.map((data): ImageContent => ({ type: "image", mimeType: "image/jpeg", data: data.toString("base64") }));
  const length = seconds === undefined ? "" : ` of ${Math.round(seconds)} seconds`;
  const shown = `The ${images.length} images are frames of a video${length}, in order.`;
  return await askModel(deps, entry, images, `${settings.prompt}\n${shown}`, work, model);
}

/** Runs `use` with a path of the file; an image that was sent by a client is written for it. */
async function withPath<T>({ path, image, mimeType }: ReceivedFile, use: (path: string) => Promise<T>): Promise<T> {
  if (path !== undefined) return use(path);
  const folder = await mkdtemp(join(tmpdir(), "openclaw-media-"));
  try {
    const written = join(folder, `image${extensionForMime(mimeType) ?? ""}`);
    await writeFile(written, Buffer.from(image?.data ?? "", "base64"), { mode: 0o600 });
    return await use(written);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function describeByProgram(deps: UnderstandingDeps, { command = "", args = [] }: MediaModel, work: Work): Promise<string> {
  const { file, request, settings, signal } = work;
  const { prompt, maxChars, timeoutMs } = settings;
  return withPath(file, (path) => {
    const values = { MediaPath: path, MediaDir: dirname(path), MediaType: file.mimeType, Prompt: prompt, MaxChars: String(maxChars) };
    return askProgram(deps, { command, args, values: () => values, request, timeoutMs, signal });
  });
}

/** Asks a plugin; undefined when none brought the provider, or not for such files. */
async function describeByPlugin({ describers }: UnderstandingDeps, { provider, model }: MediaModel, work: Work): Promise<string | undefined> {
  const { file, capability, settings, signal } = work;
  const describer = describers?.().find(({ id }) => id.toLowerCase() === provider?.trim().toLowerCase());
  const ask = capability === "image" ? describer?.describeImage : describer?.describeVideo;
  if (!ask) return undefined;
  const buffer = file.path === undefined ? Buffer.from(file.image?.data ?? "", "base64") : await readRegular(file.path);
  const stopped = whenAborted(signal).then(() => signal.throwIfAborted());
  const answer = await Promise.race([
    stopped,
    ask({
      buffer,
      fileName: file.path === undefined ? "image" : basename(file.path),
      mime: file.mimeType,
      provider,
      ...(model === undefined ? {} : { model }),
      prompt: settings.prompt,
      maxTokens: MAX_TOKENS,
      timeoutMs: settings.timeoutMs,
      signal,
    }),
  ]);
  if (!isRecord(answer) || typeof answer["text"] !== "string") throw new AppError("UNAVAILABLE", "the plugin returned no text");
  return answer["text"];
}

async function sizeOf({ path, image }: ReceivedFile): Promise<number> {
  return path === undefined ? Math.floor(((image?.data.length ?? 0) * 3) / 4) : (await stat(path)).size;
}

async function attempt(deps: UnderstandingDeps, tried: Attempt, work: Work): Promise<string> {
  if ("candidate" in tried && isProgram(tried.candidate.model)) return describeByProgram(deps, tried.candidate.model, work);
  const described = "candidate" in tried ? await describeByPlugin(deps, tried.candidate.model, work) : undefined;
  if (described !== undefined) return described;
  const [entry, model] = "candidate" in tried ? [await entryOf(deps, tried.candidate, work), tried.candidate.model] : [tried.entry, undefined];
  if (work.capability === "video") return describeFilm(deps, entry, work, model);
  return askModel(deps, entry, [await imageOf(deps, work.file)], work.settings.prompt, work, model);
}

/** Tries them one after the other. Rejects with the reason of each when none describes the file. */
export async function describe(
  deps: UnderstandingDeps,
  request: UnderstandingRequest,
  asked: { readonly file: ReceivedFile; readonly capability: MediaCapability; readonly attempts: readonly Attempt[]; readonly signal: AbortSignal },
): Promise<Description> {
  const { file, capability, attempts, signal } = asked;
  const failures: string[] = [];
  for (const tried of attempts) {
    const settings = requestSettings(deps.config.current, capability, "candidate" in tried ? tried.candidate.model : undefined);
    const limit = new AbortController();
    using _timer = deps.clock.after(settings.timeoutMs, () =>
      limit.abort(new AppError("TIMEOUT", `returned no description within ${settings.timeoutMs / 1000} s`)),
    );
    try {
      const bytes = await sizeOf(file);
      if (bytes > settings.maxBytes)
        throw new AppError("INVALID_INPUT", `the file has ${formatBytes(bytes)}, and maxBytes allows ${formatBytes(settings.maxBytes)}`);
      const text = (await attempt(deps, tried, { request, file, capability, settings, signal: AbortSignal.any([signal, limit.signal]) })).trim();
      if (text === "") throw new AppError("UNAVAILABLE", "returned nothing");
      return { text: clip(text, settings.maxChars), by: tried.by };
    } catch (error) {
      signal.throwIfAborted();
      const reason: unknown = limit.signal.aborted ? limit.signal.reason : error;
      failures.push(`${tried.by}: ${reason instanceof Error ? reason.message : String(reason)}`);
    }
  }
  throw new AppError("UNAVAILABLE", failures.join("; "));
}

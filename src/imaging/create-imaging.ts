/** Which model makes a picture, and where it is stored. */
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { limited } from "../base/limited.ts";
import type { Logger } from "../base/log/logger.ts";
import { isRecord } from "../base/records.ts";
import { whenAborted } from "../base/when-aborted.ts";
import type { Config } from "../config/index.ts";
import { loadSaving, sniffMediaType, type MediaSpending } from "../media/index.ts";
import type { AuthProfiles } from "../models/index.ts";
import { askForImages, USUAL_URLS } from "./providers.ts";
import type { ImageRequest, Imaging, MadeImages, Maker, RawImages } from "./types.ts";

export interface ImagingDeps {
  readonly config: Pick<Config, "current" | "paths">;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly auth: (agentId: string) => Promise<Pick<AuthProfiles, "candidates" | "credential">>;
  readonly spending?: MediaSpending | undefined;
  /** Providers of plugins. */
  readonly makers?: () => readonly Maker[];
}

interface Choice {
  readonly provider: string;
  readonly model: string;
}

const TIMEOUT_MS = 180_000;
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
const SETTING = "agents.defaults.imageGenerationModel";

function choiceOf(ref: string): Choice {
  const [provider = "", ...rest] = ref.trim().split("/");
  const model = rest.join("/");
  if (provider === "" || model === "") throw new AppError("INVALID_INPUT", `expected a model that makes images as provider/model, got ${JSON.stringify(ref)}`);
  return { provider: provider.toLowerCase(), model };
}

/** The model that is asked for, or those of the configuration in order. */
function choices({ current }: ImagingDeps["config"], asked: string | undefined): readonly Choice[] {
  if (asked !== undefined) return [choiceOf(asked)];
  const set = current.agents?.defaults?.imageGenerationModel;
  const refs = typeof set === "string" ? [set] : [set?.primary, ...(set?.fallbacks ?? [])];
  const found = refs.flatMap((ref) => (ref === undefined || ref.trim() === "" ? [] : [choiceOf(ref)]));
  if (found.length === 0) throw new AppError("UNAVAILABLE", `no image generation model is configured; set ${SETTING}, for example to openai/gpt-image-1`);
  return found;
}

/** Pictures of a plugin: `{images: [{buffer, revisedPrompt?}]}`. */
function imagesOf(answer: unknown): RawImages {
  const listed = isRecord(answer) ? answer["images"] : undefined;
  const images = (Array.isArray(listed) ? listed : []).flatMap((item: unknown) => {
    const data = isRecord(item) ? item["buffer"] : undefined;
    const revised = isRecord(item) ? item["revisedPrompt"] : undefined;
    return data instanceof Uint8Array ? [{ data: Buffer.from(data), ...(typeof revised === "string" ? { revisedPrompt: revised } : {}) }] : [];
  });
  return { images, input: 0, output: 0 };
}

async function keyFor({ auth }: ImagingDeps, agentId: string, provider: string): Promise<string | undefined> {
  const profiles = await auth(agentId);
  for (const candidate of await profiles.candidates(provider)) {
    if (candidate.type !== "api_key") continue;
    const { apiKey } = (await profiles.credential(candidate).catch(() => undefined)) ?? {};
    if (apiKey !== undefined) return apiKey;
  }
  return undefined;
}

async function askOne(deps: ImagingDeps, { provider, model }: Choice, request: ImageRequest, signal: AbortSignal): Promise<RawImages> {
  const { prompt, count, size, agentId } = request;
  const maker = deps.makers?.().find(({ id }) => id.toLowerCase() === provider);
  if (maker) {
    const stopped = whenAborted(signal).then(() => signal.throwIfAborted());
    const asked = { provider, model, prompt, count, timeoutMs: TIMEOUT_MS, signal, ...(size === undefined ? {} : { size }) };
    return imagesOf(await Promise.race([stopped, maker.generateImage(asked)]));
  }
  const own = deps.config.current.models?.providers?.[provider]?.baseUrl;
  const baseUrl = (own || USUAL_URLS[provider])?.trim().replace(/\/+$/, "");
  if (baseUrl === undefined)
    throw new AppError(
      "UNAVAILABLE",
      `no provider ${provider} makes images here: set models.providers.${provider}.baseUrl, or install a plugin that brings it`,
    );
  const key = await keyFor(deps, agentId, provider);
  // A server of one's own may need none.
  if (key === undefined && !own) throw new AppError("UNAVAILABLE", `no key: set one for the provider ${provider}`);
  return askForImages({ provider, baseUrl, key, model, prompt, count, size, timeoutMs: TIMEOUT_MS, signal });
}

/** No more than were asked for, and either all of them or none. */
async function save({ images }: RawImages, count: number, { config, ids }: ImagingDeps): Promise<readonly string[]> {
  const wanted = images.slice(0, count).map(({ data }) => ({ data, contentType: sniffMediaType(data) }));
  if (wanted.length === 0) throw new AppError("UNAVAILABLE", "answered without any image");
  if (wanted.some(({ contentType }) => !contentType?.startsWith("image/"))) throw new AppError("UNAVAILABLE", "answered with something that is no image");
  const { saveMedia } = await loadSaving();
  const paths: string[] = [];
  for (const { data, contentType } of wanted) {
    const file = { buffer: data, contentType, subdir: "outbound", maxBytes: MAX_IMAGE_BYTES, originalFilename: "image" };
    paths.push((await saveMedia(file, { stateDir: config.paths.state, ids })).path);
  }
  return paths;
}

async function attempt(deps: ImagingDeps, choice: Choice, request: ImageRequest): Promise<Omit<MadeImages, "failures">> {
  const { clock, spending } = deps;
  const { agentId, sessionKey, runId } = request;
  const payer = { agentId, sessionKey, runId };
  const refusal = await spending?.refusal({ ...payer, provider: choice.provider });
  if (refusal !== undefined) throw new AppError("UNAVAILABLE", refusal);
  const began = clock.monotonic();
  using limit = limited(clock, TIMEOUT_MS, request.signal);
  try {
    const raw = await askOne(deps, choice, request, limit.signal);
    const { input, output } = raw;
    // Prices of images are not in the catalogue: the call and its tokens are counted, its cost is not known.
    await spending?.spent({ ...payer, ...choice, input, output, cost: 0, durationMs: clock.monotonic() - began });
    const revisedPrompt = raw.images[0]?.revisedPrompt;
    return { paths: await save(raw, request.count, deps), ...choice, ...(revisedPrompt === undefined ? {} : { revisedPrompt }) };
  } catch (error) {
    if (limit.isOver()) throw new AppError("TIMEOUT", `gave no image within ${TIMEOUT_MS / 1000} s`);
    throw error;
  }
}

export function createImaging(deps: ImagingDeps): Imaging {
  return {
    async generate(request) {
      const failures: string[] = [];
      for (const choice of choices(deps.config, request.model)) {
        try {
          return { ...(await attempt(deps, choice, request)), failures };
        } catch (error) {
          request.signal.throwIfAborted();
          const why = `${choice.provider}/${choice.model}: ${messageOf(error)}`;
          failures.push(why);
          deps.log.warn(`no image was made: ${why}`);
        }
      }
      throw new AppError("UNAVAILABLE", `the image could not be made: ${failures.join("; ")}`);
    },
  };
}

/** Who recognises speech, by the configuration and by what is there. */
import { tmpdir } from "node:os";
import { basename } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import type { Logger } from "../../base/log/logger.ts";
import { defaultAgentId, type Config } from "../../config/index.ts";
import type { MediaSpending } from "../../media/index.ts";
import type { AuthProfiles } from "../../models/index.ts";
import { installedRecognisers, runRecogniser } from "./programs.ts";
import { askForTranscript, KNOWN_PROVIDERS, type Heard, type ProviderCall } from "./providers.ts";
import type { AudioModel, AudioSettings, Recogniser, RecogniseRequest } from "./types.ts";

export interface RecognitionDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  /** Keys of the model providers, of an agent or the default one. */
  readonly auth: (agentId?: string) => Promise<Pick<AuthProfiles, "candidates" | "credential">>;
  readonly spending?: MediaSpending | undefined;
}

const MAX_BYTES = 20 * 1024 * 1024;
/** Where nothing is set: a transcript of several hours. */
const MAX_CHARS = 200_000;
const TIMEOUT_S = 60;

const withoutSlash = (url: string): string => url.trim().replace(/\/+$/, "");

interface Entries {
  readonly settings: AudioSettings;
  readonly models: readonly AudioModel[];
}

/** What the configuration names: for speech, then for all kinds of media, then in the older place. */
function configured({ current }: Config): Entries {
  const { media } = current.tools ?? {};
  const settings = media?.audio ?? {};
  const hears = ({ type, provider = "", capabilities }: AudioModel, isShared: boolean): boolean =>
    capabilities ? capabilities.includes("audio") : !isShared || type === "cli" || Object.hasOwn(KNOWN_PROVIDERS, provider.toLowerCase());
  const models = [...(settings.models ?? []).filter((model) => hears(model, false)), ...(media?.models ?? []).filter((model) => hears(model, true))];
  const { command: older = [], timeoutSeconds } = current.audio?.transcription ?? {};
  const [command, ...args] = older;
  if (models.length === 0 && command !== undefined) models.push({ type: "cli", command, args, ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }) });
  // An address without a model: a server that takes what OpenAI takes.
  if (models.length === 0 && settings.baseUrl) models.push({ provider: "openai" });
  return { settings, models };
}

/** Keys of a provider, in order; an entry may name a profile. */
async function keysOf(
  { auth }: RecognitionDeps,
  provider: string,
  { profile, preferredProfile }: AudioModel,
  agentId: string | undefined,
): Promise<readonly string[]> {
  const profiles = await auth(agentId);
  const pins = { ...(profile ? { userPin: profile } : {}), ...(preferredProfile ? { sessionPin: preferredProfile } : {}) };
  const found = (await profiles.candidates(provider, pins)).filter(({ type }) => type === "api_key");
  const keys = await Promise.all(found.map((candidate) => profiles.credential(candidate).catch(() => undefined)));
  return keys.flatMap((key) => (key?.apiKey === undefined ? [] : [key.apiKey]));
}

/** Asks with each key until one is not over its limit. */
async function askWithKeys(call: Omit<ProviderCall, "key">, keys: readonly string[]): Promise<Heard> {
  const [first, ...others] = keys;
  try {
    return await askForTranscript({ ...call, key: first });
  } catch (error) {
    if (!(error instanceof AppError && error.details["status"] === 429) || others.length === 0) throw error;
    return askWithKeys(call, others);
  }
}

function common(entry: AudioModel, settings: AudioSettings): Pick<Recogniser, "maxBytes" | "maxChars" | "timeoutMs"> {
  return {
    maxBytes: entry.maxBytes ?? settings.maxBytes ?? MAX_BYTES,
    maxChars: entry.maxChars ?? settings.maxChars ?? MAX_CHARS,
    timeoutMs: (entry.timeoutSeconds ?? settings.timeoutSeconds ?? TIMEOUT_S) * 1000,
  };
}

function byProgram({ config, log }: RecognitionDeps, entry: AudioModel & { readonly command: string }, settings: AudioSettings, wantsWav = false): Recogniser {
  const limits = common(entry, settings);
  const { command, args = ["{{MediaPath}}"] } = entry;
  const program = { command, args, prompt: entry.prompt ?? settings.prompt, maxChars: limits.maxChars, wantsWav };
  const deps = { env: config.env(), temporary: tmpdir(), warn: (text: string) => log.debug(text) };
  return { ...limits, name: basename(command), recognise: (request) => runRecogniser(program, request, deps) };
}

function byProvider(all: RecognitionDeps, entry: AudioModel, settings: AudioSettings, agentId: string | undefined): Recogniser {
  const provider = (entry.provider ?? "openai").toLowerCase();
  const own = entry.baseUrl ?? settings.baseUrl ?? all.config.current.models?.providers?.[provider]?.baseUrl;
  const baseUrl = own || KNOWN_PROVIDERS[provider]?.baseUrl;
  const { prompt, language, headers, providerOptions, deepgram } = { ...settings, ...entry };
  const asked = { model: entry.model, prompt, language, headers, providerOptions, deepgram };
  async function recognise(request: RecogniseRequest): Promise<string> {
    if (baseUrl === undefined) throw new AppError("UNAVAILABLE", `no address: set baseUrl for it in tools.media.audio.models`);
    const keys = await keysOf(all, provider, entry, agentId);
    // A server of one's own may need none.
    if (keys.length === 0 && !own) throw new AppError("UNAVAILABLE", `no key: set one for the provider ${provider}`);
    const payerId = agentId ?? defaultAgentId(all.config.current);
    const payer = { agentId: payerId, sessionKey: request.sessionKey ?? `agent:${payerId}:main` };
    const refusal = await all.spending?.refusal({ ...payer, provider });
    if (refusal !== undefined) throw new AppError("UNAVAILABLE", refusal);
    const began = all.clock.monotonic();
    const { text, ...used } = await askWithKeys({ ...request, provider, baseUrl: withoutSlash(baseUrl), settings: asked }, keys);
    // Prices of recognition are not in the catalogue: the call and its tokens are counted, its cost is not known.
    await all.spending?.spent({ ...payer, provider, ...used, cost: 0, durationMs: all.clock.monotonic() - began });
    return text;
  }
  return { ...common(entry, settings), name: provider, recognise };
}

function byEntry(deps: RecognitionDeps, entry: AudioModel, settings: AudioSettings, agentId: string | undefined): Recogniser {
  const { command } = entry;
  return command !== undefined && entry.type !== "provider" ? byProgram(deps, { ...entry, command }, settings) : byProvider(deps, entry, settings, agentId);
}

/** Nobody is named: programs on this machine, then the first provider with a key. */
async function detected(deps: RecognitionDeps, settings: AudioSettings, agentId: string | undefined): Promise<readonly Recogniser[]> {
  const programs = (await installedRecognisers(deps.config.env())).map(({ wantsWav, ...entry }) =>
    byProgram(deps, { type: "cli", ...entry, args: [...entry.args] }, settings, wantsWav),
  );
  const providers: Recogniser[] = [];
  for (const provider of Object.keys(KNOWN_PROVIDERS))
    if ((await keysOf(deps, provider, {}, agentId)).length > 0) providers.push(byProvider(deps, { provider }, settings, agentId));
  return [...programs, ...providers];
}

/** Who is asked about a recording, in order; nobody where it is switched off. */
export const recognisersBy =
  (deps: RecognitionDeps) =>
  async (agentId: string | undefined): Promise<readonly Recogniser[]> => {
    const { settings, models } = configured(deps.config);
    if (settings.enabled === false) return [];
    return models.length > 0 ? models.map((entry) => byEntry(deps, entry, settings, agentId)) : detected(deps, settings, agentId);
  };

import { tmpdir } from "node:os";
import type { Clock } from "../base/clock.ts";
import { AppError, messageOf } from "../base/errors.ts";
import type { Ids } from "../base/ids.ts";
import { lazy } from "../base/lazy.ts";
import type { Logger } from "../base/log/logger.ts";
import type { Config, SecretInput } from "../config/index.ts";
import { loadSaving } from "../media/index.ts";
import { autoMode, createAnswers, USUAL_LENGTH, voiceHint, type AnswerToSpeak, type Summarise } from "./answers.ts";
import { limited } from "../base/limited.ts";
import { createGate } from "./gate.ts";
import type { Overrides } from "./overrides.ts";
import { preferencesPath } from "./preferences-path.ts";
import { openPreferences, type Preferences } from "./preferences.ts";
import type { Recognition } from "./recognition/create-recognition.ts";
import { speakable } from "./speakable.ts";
import type { RecognitionDeps } from "./recognition/recognisers.ts";
import { edgeSpeaker } from "./speakers/edge.ts";
import { elevenLabsSpeaker } from "./speakers/elevenlabs.ts";
import { localSpeaker } from "./speakers/local.ts";
import { openaiSpeaker } from "./speakers/openai.ts";
import { SPEAKERS, type AutoMode, type LastAttempt, type ReadySpeaker, type Speaker, type SpeakerId, type SpokenAudio } from "./types.ts";

export interface VoiceDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  /** Keys of the model providers, of an agent or the default one. */
  readonly auth: RecognitionDeps["auth"];
  readonly summarise: Summarise;
  readonly spending?: RecognitionDeps["spending"];
}

export interface SpeechRequest {
  readonly text: string;
  readonly asVoiceNote: boolean;
  /** Over the settings, for this text. */
  readonly overrides?: Overrides;
  readonly signal?: AbortSignal;
}

/** A file with the spoken text. */
export interface Speech {
  readonly audioPath: string;
  readonly provider: SpeakerId;
  readonly outputFormat: string;
  readonly voiceCompatible: boolean;
  /** Those that were asked before and failed, with the reason of each. */
  readonly failures: readonly string[];
}

export interface VoiceStatus {
  /** Which answers are spoken. */
  readonly auto: AutoMode;
  /** Characters above which answers are summed up first, or not spoken. */
  readonly maxLength: number;
  readonly summarize: boolean;
  /** Who speaks, and who does when that one cannot. */
  readonly order: readonly SpeakerId[];
  readonly prefsPath: string;
  readonly speakers: readonly (Pick<Speaker, "id" | "name" | "models" | "voices"> & { readonly missing?: string })[];
  readonly last?: LastAttempt;
}

/** The sound of a text, and who gave it. */
interface SpokenBy extends SpokenAudio, Pick<Speech, "provider" | "failures"> {}

/** Speaks texts, and recognises speech. */
export interface Voice extends Recognition {
  status(): Promise<VoiceStatus>;
  change(preferences: Preferences): void;
  /** Speaks an answer where the settings want it. Never rejects. */
  speakAnswer(answer: AnswerToSpeak): Promise<Speech | undefined>;
  /** What the agent of a session with this mode has to know about spoken answers. */
  hint(auto?: unknown): string | undefined;
  /** Speaks a text in Markdown; undefined: there are no words in it. */
  say(markdown: string, signal?: AbortSignal): Promise<SpokenBy | undefined>;
  /** Speaks into a file; throws with the reason of each that failed. */
  convert(request: SpeechRequest): Promise<Speech>;
}

const USUAL_TIMEOUT_MS = 30_000;
const MAX_TEXT = 4096;
/** Texts that are spoken at the same time, and that wait. */
const AT_ONCE = 4;
const MOST_WAITING = 32;
const MAX_AUDIO_BYTES = 50 * 1024 * 1024;
const OPENAI_URL = "https://api.openai.com/v1";

const withoutSlash = (url: string): string => url.trim().replace(/\/+$/, "");

/** Everybody who can speak, by the configuration of now. */
function speakersOf({ config, clock, auth }: VoiceDeps, overrides: Overrides = {}): readonly Speaker[] {
  const { messages, models } = config.current;
  const { edge, local, ...own } = messages?.tts ?? {};
  const openai = { ...own.openai, ...overrides.openai };
  const voiceSettings = { ...own.elevenlabs?.voiceSettings, ...overrides.elevenlabs?.voiceSettings };
  const elevenlabs = { ...own.elevenlabs, ...overrides.elevenlabs, voiceSettings };
  const env = config.env();
  const secret = async (own: SecretInput | undefined, path: string): Promise<string | undefined> =>
    own === undefined || own === "" ? undefined : (await config.resolveSecret(own, path)) || undefined;

  async function openaiKey(): Promise<string | undefined> {
    const own = await secret(openai.apiKey, "messages.tts.openai.apiKey");
    // The key of the models is for their server and no other.
    if (own !== undefined || openai.baseUrl) return own;
    const profiles = await auth();
    for (const candidate of await profiles.candidates("openai")) {
      // A login for chats is no key for speech.
      if (candidate.type !== "api_key") continue;
      const { apiKey } = (await profiles.credential(candidate).catch(() => undefined)) ?? {};
      if (apiKey !== undefined) return apiKey;
    }
    return undefined;
  }

  return [
    openaiSpeaker({
      key: openaiKey,
      baseUrl: withoutSlash(openai.baseUrl || models?.providers?.["openai"]?.baseUrl || OPENAI_URL),
      needsKey: !openai.baseUrl,
      model: openai.model || "gpt-4o-mini-tts",
      voice: openai.voice || "alloy",
    }),
    elevenLabsSpeaker({
      key: async () => (await secret(elevenlabs.apiKey, "messages.tts.elevenlabs.apiKey")) ?? (env["ELEVENLABS_API_KEY"] || env["XI_API_KEY"] || undefined),
      settings: elevenlabs,
    }),
    edgeSpeaker({ settings: edge ?? {}, now: () => clock.now(), url: env["OPENCLAW_TEST_EDGE_TTS_URL"] }),
    localSpeaker({ ...local, env, temporary: tmpdir() }),
  ];
}

interface Judged {
  readonly speaker: Speaker;
  readonly found: ReadySpeaker | { readonly missing: string };
}

const judge = async (speaker: Speaker): Promise<Judged> => ({
  speaker,
  found: await speaker.ready().catch((error: unknown) => ({ missing: messageOf(error) })),
});

/** Who is asked: the one that people chose, and the one that an agent's tag names for this text. */
interface Choice {
  readonly chosen: SpeakerId | undefined;
  readonly tagged?: SpeakerId | undefined;
  /** Tags may name providers even where texts are to stay on this machine. */
  readonly mayLeave?: boolean;
}

/**
 * The named one first, then the others that could, in their usual order. Without a choice, the first that could.
 * Choosing `local` keeps texts on this machine: nobody else is asked, whatever fails.
 */
function orderOf(judged: readonly Judged[], { chosen, tagged, mayLeave = false }: Choice): readonly Judged[] {
  const named = tagged !== undefined && (chosen !== "local" || mayLeave) ? tagged : chosen;
  const first = judged.filter(({ speaker }) => speaker.id === named);
  if (named === "local") return first;
  const others = judged.filter(({ speaker, found }) => speaker.id !== named && "speak" in found);
  return [...first, ...(chosen === "local" ? others.filter(({ speaker }) => speaker.id === chosen) : others)];
}

async function speakWith({ config, clock }: VoiceDeps, { speaker, found }: Judged, { text, asVoiceNote, signal: caller }: SpeechRequest): Promise<SpokenAudio> {
  if ("missing" in found) throw new AppError("UNAVAILABLE", found.missing);
  const timeoutMs = speaker.timeoutMs ?? config.current.messages?.tts?.timeoutMs ?? USUAL_TIMEOUT_MS;
  using limit = limited(clock, timeoutMs, caller);
  try {
    return await found.speak({ text, asVoiceNote, timeoutMs, signal: limit.signal });
  } catch (error) {
    if (limit.isOver()) throw new AppError("TIMEOUT", `returned no audio within ${timeoutMs} ms`);
    throw error;
  }
}

async function save({ bytes, contentType }: SpokenAudio, { config, ids }: VoiceDeps): Promise<string> {
  const { saveMedia } = await loadSaving();
  const file = { buffer: bytes, contentType, subdir: "outbound", maxBytes: MAX_AUDIO_BYTES, originalFilename: "voice" };
  return (await saveMedia(file, { stateDir: config.paths.state, ids })).path;
}

export function createVoice(deps: VoiceDeps): Voice {
  const { config, clock, ids, log } = deps;
  const written = () => config.current.messages?.tts ?? {};
  const preferences = openPreferences(() => preferencesPath(config), { ids, log });
  const recognition = lazy(async () => (await import("./recognition/create-recognition.ts")).createRecognition(deps));
  const gate = createGate(() => AT_ONCE);
  let last: LastAttempt | undefined;

  async function speakers(overrides: Overrides = {}): Promise<readonly Judged[]> {
    const { provider, modelOverrides } = written();
    const choice = { chosen: preferences.read().provider ?? provider, tagged: overrides.provider, mayLeave: modelOverrides?.allowProvider === true };
    return orderOf(await Promise.all(speakersOf(deps, overrides).map(judge)), choice);
  }

  /** The sound of a text, by the first who can. */
  async function speakBy(request: SpeechRequest): Promise<SpokenBy> {
    const text = request.text.trim();
    const most = written().maxTextLength ?? MAX_TEXT;
    if (text === "") throw new AppError("INVALID_INPUT", "there is nothing to speak: the text is empty");
    if (text.length > most)
      throw new AppError("INVALID_INPUT", `the text has ${text.length} characters; ${most} can be spoken at once (messages.tts.maxTextLength)`);
    using _turn = await gate.enter(request.signal, MOST_WAITING);
    const began = clock.now();
    const failures: string[] = [];
    for (const judged of await speakers(request.overrides)) {
      const { id } = judged.speaker;
      try {
        const audio = await speakWith(deps, judged, { ...request, text });
        last = { at: began, characters: text.length, provider: id, ms: clock.now() - began, failures };
        return { ...audio, provider: id, failures };
      } catch (error) {
        request.signal?.throwIfAborted();
        failures.push(`${id}: ${messageOf(error)}`);
        log.warn(`${id} could not speak ${text.length} characters: ${messageOf(error)}`);
      }
    }
    const error = failures.length === 0 ? `no speech provider is available; known are ${SPEAKERS.join(", ")}` : failures.join("; ");
    last = { at: began, characters: text.length, ms: clock.now() - began, failures, error };
    throw new AppError("UNAVAILABLE", `the text could not be spoken: ${error}`);
  }

  const voice: Voice = {
    speakAnswer: (answer) => answers(answer),
    hint: (auto) => voiceHint(written(), preferences.read(), auto),
    async status() {
      const chosen = preferences.read();
      const judged = await Promise.all(speakersOf(deps).map(judge));
      return {
        auto: autoMode(written(), chosen),
        maxLength: chosen.maxLength ?? USUAL_LENGTH,
        summarize: chosen.summarize ?? true,
        order: orderOf(judged, { chosen: chosen.provider ?? written().provider }).map(({ speaker }) => speaker.id),
        prefsPath: preferences.path(),
        speakers: judged.map(({ speaker: { id, name, models, voices }, found }) => ({
          id,
          name,
          models,
          ...(voices ? { voices } : {}),
          ...("missing" in found ? { missing: found.missing } : {}),
        })),
        ...(last ? { last } : {}),
      };
    },

    change: (changed) => preferences.change(changed),
    transcribe: async (...args) => (await recognition()).transcribe(...args),
    hear: async (...args) => (await recognition()).hear(...args),
    recognisers: async (...args) => (await recognition()).recognisers(...args),

    async say(markdown, signal) {
      const text = speakable(markdown);
      return text === "" ? undefined : speakBy({ text, asVoiceNote: false, ...(signal ? { signal } : {}) });
    },

    async convert(request) {
      const { provider, failures, ...audio } = await speakBy(request);
      return { audioPath: await save(audio, deps), provider, outputFormat: audio.format, voiceCompatible: audio.voiceCompatible, failures };
    },
  };
  const answers = createAnswers({ tts: written, preferences: preferences.read, clock, log, convert: voice.convert, summarise: deps.summarise });
  return voice;
}

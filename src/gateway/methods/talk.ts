import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { AppError, fileError, systemCode } from "../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../base/files.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import { clip } from "../../base/text.ts";
import { defaultAgentId, takesVoiceNotes, type Config } from "../../config/index.ts";
import { SPEAKERS, type Voice } from "../../voice/index.ts";
import { agentOfKey } from "../../protocol/index.ts";
import { isBase64 } from "./chat/attachments.ts";
import type { Broadcast } from "./deps.ts";
import type { HandlersOf } from "./handler.ts";

export interface TalkDeps {
  readonly config: Config;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly broadcast: Broadcast;
}

const USUAL_WORDS = ["openclaw", "claude", "computer"];
const MAX_WORDS = 32;
const MAX_WORD_CHARS = 64;
/** Nobody can say these: control characters, line breaks, changes of direction. */
const UNSPOKEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu;

const cleaned = (words: readonly unknown[]): readonly string[] => {
  const kept = words.flatMap((word) =>
    typeof word === "string" ? [word.replaceAll(UNSPOKEN, " ").trim().slice(0, MAX_WORD_CHARS).toWellFormed().trim()] : [],
  );
  const different = kept.filter((word, at) => word !== "" && kept.findIndex((other) => other.toLowerCase() === word.toLowerCase()) === at);
  return different.length === 0 ? USUAL_WORDS : different.slice(0, MAX_WORDS);
};

/** Words that wake the gateway, in `<state>/settings/voicewake.json`. */
function wakeWords({ config, clock, ids }: TalkDeps) {
  const path = (): string => join(config.paths.state, "settings", "voicewake.json");
  return {
    async read(): Promise<readonly string[]> {
      try {
        const content: unknown = JSON.parse(await readFile(path(), "utf8"));
        return cleaned(isRecord(content) && Array.isArray(content["triggers"]) ? content["triggers"] : []);
      } catch (error) {
        if (systemCode(error) === "ENOENT" || error instanceof SyntaxError) return USUAL_WORDS;
        throw fileError(path(), "could not read the wake words", error);
      }
    },
    write(words: readonly string[]): readonly string[] {
      const triggers = cleaned(words);
      ensureFolder(dirname(path()));
      writeAtomic(path(), `${JSON.stringify({ triggers, updatedAtMs: clock.now() }, null, 2)}\n`, { mode: 0o600, temporary: `${path()}.${ids.hex(4)}.tmp` });
      return triggers;
    },
  };
}

async function talkConfig({ config }: TalkDeps, withKey: boolean) {
  const { talk, session, ui } = config.current;
  const env = config.env();
  const { apiKey: written, voiceAliases, modelId, outputFormat, interruptOnSpeech } = talk ?? {};
  const voiceId = talk?.voiceId ?? (env["ELEVENLABS_VOICE_ID"] || env["SAG_VOICE_ID"]);
  const key = !withKey ? undefined : written === undefined ? env["ELEVENLABS_API_KEY"] : await config.resolveSecret(written, "talk.apiKey");
  const seamColor = ui?.seamColor;
  return {
    config: {
      talk: {
        ...(voiceId ? { voiceId } : {}),
        ...(voiceAliases ? { voiceAliases } : {}),
        ...(modelId ? { modelId } : {}),
        ...(outputFormat ? { outputFormat } : {}),
        ...(key ? { apiKey: key } : {}),
        ...(interruptOnSpeech === undefined ? {} : { interruptOnSpeech }),
      },
      ...(session?.mainKey === undefined ? {} : { session: { mainKey: session.mainKey } }),
      ...(seamColor === undefined ? {} : { ui: { seamColor } }),
    },
  };
}

/** Talking with the gateway, and the words that wake it. */
export function talkHandlers(deps: TalkDeps) {
  const words = wakeWords(deps);
  return {
    async "talk.config"({ includeSecrets = false }, { caller: { scopes } }) {
      if (includeSecrets && !scopes.has("operator.admin") && !scopes.has("operator.talk.secrets"))
        throw new AppError("PERMISSION_DENIED", "missing scope: operator.talk.secrets");
      return talkConfig(deps, includeSecrets);
    },
    "talk.mode"({ enabled, phase }) {
      const mode = { enabled, phase: phase === undefined ? null : clip(phase, MAX_WORD_CHARS), ts: deps.clock.now() };
      deps.broadcast("talk.mode", mode);
      return mode;
    },
    "voicewake.get": async () => ({ triggers: [...(await words.read())] }),
    "voicewake.set"({ triggers: wanted }) {
      const changed = { triggers: [...words.write(wanted)] };
      deps.broadcast("voicewake.changed", changed);
      return changed;
    },
  } satisfies HandlersOf<"talk.config" | "talk.mode" | "voicewake.get" | "voicewake.set">;
}

export interface SpeechDeps {
  readonly voice: () => Promise<Voice>;
  readonly config: Pick<Config, "current">;
}

const NO_RECOGNISER =
  "no speech-to-text provider is configured: set tools.media.audio.models, install whisper.cpp, or add a key for OpenAI, Groq, Deepgram or Google";

/** Talking with a client: what it records becomes text, and answers come back as sound. */
export function talkingHandlers({ voice, config }: SpeechDeps) {
  return {
    async "talk.ready"() {
      const all = await voice();
      const [hears, { order }] = await Promise.all([all.recognisers(), all.status()]);
      return { hears: [...hears], speaks: [...order], interruptOnSpeech: config.current.talk?.interruptOnSpeech !== false };
    },
    async "talk.transcribe"({ audioBase64, mimeType, sessionKey }, { signal }) {
      const data = audioBase64.replaceAll(/\s/g, "");
      if (!isBase64(data)) throw new AppError("INVALID_INPUT", "audioBase64 is not valid base64");
      const agentId = agentOfKey(sessionKey ?? "", { defaultAgentId: defaultAgentId(config.current) });
      const heard = await (await voice()).hear({ bytes: Buffer.from(data, "base64"), mimeType: mimeType.toLowerCase().split(";")[0]!.trim(), agentId }, signal);
      if (!heard) throw new AppError("UNAVAILABLE", NO_RECOGNISER);
      return { text: heard.text, provider: heard.by };
    },
    async "talk.speak"({ text }, { signal }) {
      const spoken = await (await voice()).say(text, signal);
      if (!spoken) return { audioBase64: "", mimeType: "", provider: "", outputFormat: "" };
      const { bytes, contentType, format, provider } = spoken;
      return { audioBase64: bytes.toString("base64"), mimeType: contentType, provider, outputFormat: format };
    },
  } satisfies HandlersOf<"talk.ready" | "talk.transcribe" | "talk.speak">;
}

/** Text into speech. */
export function speechHandlers({ voice, config }: SpeechDeps) {
  const isReady = (speakers: Awaited<ReturnType<Voice["status"]>>["speakers"], id: string): boolean =>
    speakers.some((speaker) => speaker.id === id && speaker.missing === undefined);
  return {
    async "tts.status"() {
      const { auto, order, prefsPath, speakers } = await (await voice()).status();
      const [provider = "edge", ...others] = order;
      return {
        enabled: auto !== "off",
        auto,
        provider,
        fallbackProvider: others[0] ?? null,
        fallbackProviders: others,
        prefsPath,
        hasOpenAIKey: isReady(speakers, "openai"),
        hasElevenLabsKey: isReady(speakers, "elevenlabs"),
        edgeEnabled: isReady(speakers, "edge"),
      };
    },
    async "tts.providers"() {
      const { order, speakers } = await (await voice()).status();
      return {
        providers: speakers.map(({ id, name, models, voices, missing }) => ({
          id,
          name,
          configured: missing === undefined,
          models: [...models],
          ...(voices ? { voices: [...voices] } : {}),
        })),
        active: order[0] ?? "",
      };
    },
    async "tts.enable"() {
      (await voice()).change({ auto: "always" });
      return { enabled: true };
    },
    async "tts.disable"() {
      (await voice()).change({ auto: "off" });
      return { enabled: false };
    },
    async "tts.setProvider"({ provider: wanted }, { caller: { scopes } }) {
      const provider = SPEAKERS.find((id) => id === wanted)!;
      const all = await voice();
      if (
        provider !== "local" &&
        !scopes.has("operator.admin") &&
        (config.current.messages?.tts?.provider === "local" || (await all.status()).order[0] === "local")
      )
        throw new AppError(
          "PERMISSION_DENIED",
          "missing scope: operator.admin; speech is local now, and another provider would receive texts that stay on this machine",
        );
      all.change({ provider });
      return { provider };
    },
    async "tts.convert"({ text, channel = "" }, { signal }) {
      const { failures, ...speech } = await (await voice()).convert({ text, asVoiceNote: takesVoiceNotes(channel), signal });
      return { ...speech, ...(failures.length === 0 ? {} : { failures: [...failures] }) };
    },
  } satisfies HandlersOf<"tts.status" | "tts.providers" | "tts.enable" | "tts.disable" | "tts.setProvider" | "tts.convert">;
}

import { AppError } from "../../base/errors.ts";
import type { OpenClawConfig } from "../../config/index.ts";
import { fetchAudio } from "../request.ts";
import type { Speaker } from "../types.ts";

type ElevenLabsConfig = NonNullable<NonNullable<NonNullable<OpenClawConfig["messages"]>["tts"]>["elevenlabs"]>;

export interface ElevenLabsDeps {
  readonly key: () => Promise<string | undefined>;
  readonly settings: ElevenLabsConfig;
}

const BASE_URL = "https://api.elevenlabs.io";
const VOICE = "pMsXgVXv3BLzUgSXRplE";
const MODEL = "eleven_multilingual_v2";
const VOICE_ID = /^[A-Za-z0-9]{10,40}$/;
const [NOTE, FILE] = ["opus_48000_64", "mp3_44100_128"];

const withoutSlash = (url: string): string => url.trim().replace(/\/+$/, "");

function bodyOf(text: string, { modelId, seed, applyTextNormalization, languageCode, voiceSettings }: ElevenLabsConfig): object {
  return {
    text,
    model_id: modelId || MODEL,
    ...(seed === undefined ? {} : { seed }),
    ...(applyTextNormalization === undefined ? {} : { apply_text_normalization: applyTextNormalization }),
    ...(languageCode ? { language_code: languageCode } : {}),
    voice_settings: {
      stability: voiceSettings?.stability ?? 0.5,
      similarity_boost: voiceSettings?.similarityBoost ?? 0.75,
      style: voiceSettings?.style ?? 0,
      use_speaker_boost: voiceSettings?.useSpeakerBoost ?? true,
      speed: voiceSettings?.speed ?? 1,
    },
  };
}

export function elevenLabsSpeaker({ key, settings }: ElevenLabsDeps): Speaker {
  return {
    id: "elevenlabs",
    name: "ElevenLabs",
    models: [MODEL, "eleven_turbo_v2_5", "eleven_monolingual_v1"],
    async ready() {
      const found = await key();
      if (found === undefined) return { missing: "no key: set messages.tts.elevenlabs.apiKey or ELEVENLABS_API_KEY" };
      return {
        async speak({ text, asVoiceNote, timeoutMs, signal }) {
          const voice = settings.voiceId || VOICE;
          if (!VOICE_ID.test(voice))
            throw new AppError("INVALID_INPUT", `messages.tts.elevenlabs.voiceId is not an ElevenLabs voice id: ${JSON.stringify(voice)}`);
          const format = asVoiceNote ? NOTE : FILE;
          const bytes = await fetchAudio({
            name: "ElevenLabs",
            url: `${withoutSlash(settings.baseUrl || BASE_URL)}/v1/text-to-speech/${voice}?output_format=${format}`,
            headers: { "xi-api-key": found, accept: asVoiceNote ? "audio/ogg" : "audio/mpeg" },
            body: bodyOf(text, settings),
            key: found,
            timeoutMs,
            signal,
          });
          return { bytes, format, contentType: asVoiceNote ? "audio/ogg" : "audio/mpeg", voiceCompatible: asVoiceNote };
        },
      };
    },
  };
}

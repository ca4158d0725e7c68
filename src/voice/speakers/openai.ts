import { fetchAudio } from "../request.ts";
import type { Speaker } from "../types.ts";

export interface OpenAiDeps {
  readonly key: () => Promise<string | undefined>;
  readonly baseUrl: string;
  /** False for a server of the operator's own. */
  readonly needsKey: boolean;
  readonly model: string;
  readonly voice: string;
}

/** The speech endpoint of OpenAI, and of servers that speak like it. */
export function openaiSpeaker({ key, baseUrl, needsKey, model, voice }: OpenAiDeps): Speaker {
  return {
    id: "openai",
    name: "OpenAI",
    models: ["gpt-4o-mini-tts", "tts-1", "tts-1-hd"],
    voices: ["alloy", "ash", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer"],
    async ready() {
      const found = await key();
      if (found === undefined && needsKey) return { missing: "no key: set messages.tts.openai.apiKey or OPENAI_API_KEY" };
      return {
        async speak({ text, asVoiceNote, timeoutMs, signal }) {
          const format = asVoiceNote ? "opus" : "mp3";
          const bytes = await fetchAudio({
            name: "OpenAI",
            url: `${baseUrl}/audio/speech`,
            headers: found === undefined ? {} : { authorization: `Bearer ${found}` },
            body: { model, voice, input: text, response_format: format },
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

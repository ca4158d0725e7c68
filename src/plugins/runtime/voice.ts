/** `runtime.tts` and `runtime.mediaUnderstanding`: speech as plugins have it, with the gateway's own settings. */
import { AppError, messageOf } from "../../base/errors.ts";
import { takesVoiceNotes, type Env } from "../../config/index.ts";
import { getFileExtension, loadOutgoing, mimeForExtension } from "../../media/index.ts";
import type { Voice } from "../../voice/index.ts";
import type { TelephonySpeech } from "../sdk/types/index.ts";
import type { PendingParts } from "./pending.ts";

export interface VoicePartsDeps {
  /** Absent where nothing speaks, as on the command line. */
  readonly voice?: (() => Promise<Pick<Voice, "convert" | "say" | "transcribe">>) | undefined;
  readonly env: () => Env;
  readonly now: () => number;
}

/** The samples of a WAV file of 16 bits. */
export function samplesOf(wav: Buffer): { readonly samples: Buffer; readonly rate: number } | undefined {
  if (wav.length < 44 || wav.toString("latin1", 0, 4) !== "RIFF" || wav.toString("latin1", 8, 12) !== "WAVE") return undefined;
  let rate: number | undefined;
  for (let at = 12; at + 8 <= wav.length;) {
    const name = wav.toString("latin1", at, at + 4);
    const size = wav.readUInt32LE(at + 4);
    if (name === "fmt " && wav.readUInt16LE(at + 8) === 1 && wav.readUInt16LE(at + 10) === 1 && wav.readUInt16LE(at + 22) === 16)
      rate = wav.readUInt32LE(at + 12);
    // A program that writes as it goes leaves a size that is too large.
    if (name === "data") return rate === undefined ? undefined : { samples: wav.subarray(at + 8, Math.min(at + 8 + size, wav.length)), rate };
    at += 8 + size + (size % 2);
  }
  return undefined;
}

async function telephony(text: string, voice: Pick<Voice, "say">, env: Env): Promise<Omit<TelephonySpeech, "success">> {
  const spoken = await voice.say(text);
  if (!spoken) throw new AppError("INVALID_INPUT", "there is nothing to speak: the text has no words");
  const { bytes, contentType, provider } = spoken;
  const wav = contentType === "audio/wav" ? bytes : (await (await loadOutgoing()).createConverters({ env, warn() {} }).toWav(bytes, contentType))?.data;
  const found = wav && samplesOf(wav);
  if (!found) throw new AppError("UNAVAILABLE", `${provider} returns ${contentType}, which cannot be converted to samples here: install ffmpeg`);
  return { audioBuffer: found.samples, sampleRate: found.rate, outputFormat: "pcm", provider };
}

interface Asked {
  readonly text?: unknown;
  readonly channel?: unknown;
}

/** Speech and recognition for plugins. Failures of speech are results, as published plugins expect them. */
export function voiceParts({ voice, env, now }: VoicePartsDeps): PendingParts {
  if (!voice) return {};
  async function result<T extends object>(work: () => Promise<T>): Promise<(T & { success: true; latencyMs: number }) | { success: false; error: string }> {
    const began = now();
    try {
      return { success: true, ...(await work()), latencyMs: now() - began };
    } catch (error) {
      return { success: false, error: messageOf(error) };
    }
  }
  const textOf = ({ text }: Asked): string => (typeof text === "string" ? text : "");
  return {
    "tts.textToSpeechTelephony": (params: Asked) => result(async () => telephony(textOf(params), await voice(), env())),
    "tts.textToSpeech": (params: Asked) =>
      result(async () => {
        const channel = typeof params.channel === "string" ? params.channel : "";
        return (await voice()).convert({ text: textOf(params), asVoiceNote: takesVoiceNotes(channel) });
      }),
    async "mediaUnderstanding.transcribeAudioFile"({ filePath, mime }: { readonly filePath?: unknown; readonly mime?: unknown }) {
      if (typeof filePath !== "string" || filePath === "") throw new AppError("INVALID_INPUT", "transcribeAudioFile needs filePath, the path of a recording");
      const mimeType = typeof mime === "string" && mime !== "" ? mime : (mimeForExtension(getFileExtension(filePath)) ?? "audio/ogg");
      return { text: (await (await voice()).transcribe({ path: filePath, mimeType }))?.text };
    },
  };
}

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { VoicePartsDeps } from "./voice.ts";
import { samplesOf, voiceParts } from "./voice.ts";

type Part = (params: object) => Promise<unknown>;

function wav(rate: number, samples: Buffer): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(0xffff_ffff, 40);
  return Buffer.concat([head, samples]);
}

const SAMPLES = Buffer.from([1, 2, 3, 4]);

function parts(over: Partial<Awaited<ReturnType<NonNullable<VoicePartsDeps["voice"]>>>> = {}): Readonly<Record<string, Part>> {
  const voice = {
    say: async (text: string) =>
      text === ""
        ? undefined
        : { bytes: wav(22_050, SAMPLES), contentType: "audio/wav", format: "wav", voiceCompatible: false, provider: "local" as const, failures: [] },
    convert: async () => ({ audioPath: "/a.ogg", provider: "openai" as const, outputFormat: "opus", voiceCompatible: true, failures: [] }),
    transcribe: async ({ mimeType }: { mimeType: string }) => ({ text: mimeType, by: "test" }),
    ...over,
  };
  return voiceParts({ voice: async () => voice, env: () => ({}), now: () => 7 }) as never;
}

test("a plugin gets samples for the telephone, a file for a chat, and the words of a recording", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-plugin-voice-"));
  const file = join(folder, "note.mp3");
  writeFileSync(file, "");
  const all = parts();
  expect(await all["tts.textToSpeechTelephony"]!({ text: "Hello" })).toEqual({
    success: true,
    audioBuffer: SAMPLES,
    sampleRate: 22_050,
    outputFormat: "pcm",
    provider: "local",
    latencyMs: 0,
  });
  expect(await all["tts.textToSpeech"]!({ text: "Hello", channel: "telegram" })).toMatchObject({ success: true, audioPath: "/a.ogg", provider: "openai" });
  expect(await all["mediaUnderstanding.transcribeAudioFile"]!({ filePath: file })).toEqual({ text: "audio/mpeg" });
  rmSync(folder, { recursive: true });
});

test("speech that fails is a result; a call without a file is refused; without a voice nothing is there", async () => {
  const all = parts({ convert: () => Promise.reject(new Error("nobody can speak")) });
  expect(await all["tts.textToSpeech"]!({ text: "Hello" })).toEqual({ success: false, error: "nobody can speak" });
  expect(await all["tts.textToSpeechTelephony"]!({})).toEqual({ success: false, error: expect.stringContaining("no words") });
  await expect(all["mediaUnderstanding.transcribeAudioFile"]!({})).rejects.toThrow("needs filePath");
  expect(voiceParts({ env: () => ({}), now: () => 0 })).toEqual({});
});

test("samples are found in WAV files of 16 bits, also in those whose size is not known, and in nothing else", () => {
  expect(samplesOf(wav(8000, SAMPLES))).toEqual({ samples: SAMPLES, rate: 8000 });
  expect(samplesOf(Buffer.from("ID3"))).toBeUndefined();
  expect(samplesOf(wav(8000, SAMPLES).subarray(0, 30))).toBeUndefined();
});

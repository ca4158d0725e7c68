/** What is spoken, as recordings: from shortly before it began to its end. */
import { createVoiceActivity, type ActivityOptions } from "./voice-activity.ts";

/** Samples a second of a recording. Recognisers want no more. */
const RATE = 16_000;
const BEFORE_MS = 400;
/** A recording is cut here, and the next one begins. */
const MOST_MS = 60_000;

export interface Recorder {
  push(samples: Float32Array, rate: number): void;
}

export interface RecorderEvents {
  /** Someone begins to speak. */
  began(): void;
  /** A WAV file with what was said. */
  ended(wav: Uint8Array): void;
}

/** Takes every so many of the samples, each as the mean of those around it. */
export function resampled(samples: Float32Array, from: number, to = RATE): Float32Array {
  if (from <= to) return samples;
  const step = from / to;
  return Float32Array.from({ length: Math.floor(samples.length / step) }, (_, at) => {
    const [begin, end] = [Math.floor(at * step), Math.floor((at + 1) * step)];
    let sum = 0;
    for (let index = begin; index < end; index += 1) sum += samples[index] ?? 0;
    return sum / (end - begin);
  });
}

/** A WAV file with one channel of 16 bits. */
export function wavOf(parts: readonly Float32Array[], rate: number): Uint8Array {
  const count = parts.reduce((sum, { length }) => sum + length, 0);
  const view = new DataView(new ArrayBuffer(44 + count * 2));
  const word = (at: number, text: string): void => new TextEncoder().encode(text).forEach((code, index) => view.setUint8(at + index, code));
  word(0, "RIFF");
  view.setUint32(4, 36 + count * 2, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, count * 2, true);
  let at = 44;
  for (const part of parts) {
    for (const sample of part) {
      view.setInt16(at, Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), true);
      at += 2;
    }
  }
  return new Uint8Array(view.buffer);
}

export function createRecorder({ began, ended }: RecorderEvents, options: ActivityOptions = {}): Recorder {
  const activity = createVoiceActivity(options);
  let parts: Float32Array[] = [];
  let heldMs = 0;
  return {
    push(samples, rate) {
      const changed = activity.push(samples, rate);
      const part = resampled(samples, rate);
      const held = Math.min(rate, RATE);
      parts.push(part);
      heldMs += (part.length / held) * 1000;
      if (changed === "begins") began();
      // Before someone speaks only the last moment is kept.
      const mostMs = activity.speaking || changed === "ends" ? Infinity : BEFORE_MS;
      while (parts.length > 1 && heldMs > mostMs) heldMs -= (parts.shift()!.length / held) * 1000;
      if (changed !== "ends" && !(activity.speaking && heldMs >= MOST_MS)) return;
      const wav = wavOf(parts, held);
      parts = [];
      heldMs = 0;
      ended(wav);
    },
  };
}

/** Whether someone speaks, by how loud it is over what is usual here. */
export interface VoiceActivity {
  /** Takes the next samples, from -1 to 1. Gives what changed with them. */
  push(samples: Float32Array, rate: number): "begins" | "ends" | undefined;
  readonly speaking: boolean;
}

export interface ActivityOptions {
  /** Sound has to go on for so long to count as speech. */
  readonly beginMs?: number;
  /** Silence that ends it. */
  readonly endMs?: number;
}

const LEAST = 0.012;
/** Speech is so many times louder than the background. */
const OVER = 3;

const loudness = (samples: Float32Array): number => Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));

export function createVoiceActivity({ beginMs = 80, endMs = 900 }: ActivityOptions = {}): VoiceActivity {
  let floor = LEAST / OVER;
  let speaking = false;
  let loudMs = 0;
  let quietMs = 0;
  return {
    get speaking() {
      return speaking;
    },
    push(samples, rate) {
      const ms = (samples.length / rate) * 1000;
      const level = loudness(samples);
      const isLoud = level > Math.max(LEAST, floor * OVER);
      // The background is known from what is no speech; it becomes quiet at once, and loud slowly.
      if (!isLoud) floor = level < floor ? level : floor + (level - floor) * 0.05;
      loudMs = isLoud ? loudMs + ms : Math.max(0, loudMs - ms);
      quietMs = isLoud ? 0 : quietMs + ms;
      if (!speaking && loudMs >= beginMs) {
        speaking = true;
        return "begins";
      }
      if (speaking && quietMs >= endMs) {
        speaking = false;
        loudMs = 0;
        return "ends";
      }
      return undefined;
    },
  };
}

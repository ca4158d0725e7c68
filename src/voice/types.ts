/** Who can speak. */
export const SPEAKERS = ["openai", "elevenlabs", "edge", "local"] as const;
export type SpeakerId = (typeof SPEAKERS)[number];

/** Which answers are spoken. */
export const AUTO_MODES = ["off", "always", "inbound", "tagged"] as const;
export type AutoMode = (typeof AUTO_MODES)[number];

export interface SpeakRequest {
  /** Plain text, not empty. */
  readonly text: string;
  /** The audio becomes a voice note: Ogg Opus, if the speaker can. */
  readonly asVoiceNote: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface SpokenAudio {
  readonly bytes: Buffer;
  /** As the speaker calls it. */
  readonly format: string;
  readonly contentType: string;
  /** Channels can send it as a voice note as it is. */
  readonly voiceCompatible: boolean;
}

/** One that is set up: everything it needs was found. */
export interface ReadySpeaker {
  speak(request: SpeakRequest): Promise<SpokenAudio>;
}

/** One of those that can speak. */
export interface Speaker {
  readonly id: SpeakerId;
  readonly name: string;
  readonly models: readonly string[];
  readonly voices?: readonly string[];
  /** For this one, if not for all the same. */
  readonly timeoutMs?: number;
  /** What it speaks with, or what is missing. */
  ready(): Promise<ReadySpeaker | { readonly missing: string }>;
}

/** How the last text fared. */
export interface LastAttempt {
  readonly at: number;
  readonly characters: number;
  readonly provider?: SpeakerId;
  readonly ms: number;
  /** Those that failed, with the reason of each. */
  readonly failures: readonly string[];
  /** Nobody could speak. */
  readonly error?: string;
}

import type { OpenClawConfig } from "../../config/index.ts";

export type AudioSettings = NonNullable<NonNullable<NonNullable<OpenClawConfig["tools"]>["media"]>["audio"]>;
export type AudioModel = NonNullable<AudioSettings["models"]>[number];

/** A recording on this machine. */
export interface Recording {
  readonly path: string;
  readonly mimeType: string;
  /** Whose keys are used; the default agent's when absent. */
  readonly agentId?: string | undefined;
  /** Where it came from, for `tools.media.audio.scope`; without it no scope holds. */
  readonly sessionKey?: string | undefined;
  readonly channel?: string | undefined;
}

/** What was said in a recording. */
export interface Transcript {
  /** Empty: no words were recognised. */
  readonly text: string;
  /** Who recognised it: a provider, or a program. */
  readonly by: string;
}

export interface RecogniseRequest extends Pick<Recording, "path" | "mimeType" | "sessionKey"> {
  readonly bytes: Buffer;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** One that may recognise speech, as the configuration or this machine has it. */
export interface Recogniser {
  /** For errors and the transcript. */
  readonly name: string;
  readonly maxBytes: number;
  readonly maxChars: number;
  readonly timeoutMs: number;
  recognise(request: RecogniseRequest): Promise<string>;
}

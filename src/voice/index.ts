/**
 * Text into speech, and speech into text.
 * Entry point of the module.
 */
import { lazy } from "../base/lazy.ts";
import type { Voice, VoiceDeps } from "./create-voice.ts";

export type { Speech, SpeechRequest, Voice, VoiceDeps, VoiceStatus } from "./create-voice.ts";
export type { Recording, Transcript } from "./recognition/types.ts";
export type { Preferences } from "./preferences.ts";
export { SPEAKERS, type AutoMode, type SpeakerId } from "./types.ts";

/** The code is loaded with the first request. */
export function createLazyVoice(deps: VoiceDeps): () => Promise<Voice> {
  return lazy(async () => (await import("./create-voice.ts")).createVoice(deps));
}

/**
 * Text into speech, and speech into text.
 * Entry point of the module.
 */
import { existsSync } from "node:fs";
import { lazy } from "../base/lazy.ts";
import type { Config } from "../config/index.ts";
import type { Voice, VoiceDeps } from "./create-voice.ts";
import { preferencesPath } from "./preferences-path.ts";

export type { AnswerToSpeak, Summarise } from "./answers.ts";
export type { Speech, SpeechRequest, Voice, VoiceDeps, VoiceStatus } from "./create-voice.ts";
export type { Recording, Transcript } from "./recognition/types.ts";
export type { Preferences } from "./preferences.ts";
export { SPEAKERS, type AutoMode, type SpeakerId } from "./types.ts";

/** The code is loaded with the first request. */
export function createLazyVoice(deps: VoiceDeps): () => Promise<Voice> {
  return lazy(async () => (await import("./create-voice.ts")).createVoice(deps));
}

/** Whether answers of a session may be spoken by themselves. False without loading anything where nobody ever asked for it. */
export function mayBeSpoken(config: Pick<Config, "current" | "env" | "paths">, own?: unknown): boolean {
  const { auto, enabled } = config.current.messages?.tts ?? {};
  return (own !== undefined && own !== "off") || (auto !== undefined && auto !== "off") || enabled === true || existsSync(preferencesPath(config));
}

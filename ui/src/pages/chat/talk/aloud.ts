/** Reads an answer aloud, sentence by sentence. */
import type { Link } from "../../../link/link.ts";
import { playSound } from "./microphone.ts";
import { createSentences } from "./sentences.ts";
import { createSpeaker, type Playing } from "./speaker.ts";
import { fetchSpeech } from "./talk.ts";

export interface Reading {
  /** Silence at once. */
  stop(): void;
}

export interface ReadingOptions {
  readonly link: Pick<Link, "request">;
  readonly text: string;
  /** Everything was heard, or it was stopped. */
  ended(): void;
  failed(error: unknown): void;
  readonly play?: (sound: ArrayBuffer) => Promise<Playing>;
}

export function readAloud({ link, text, ended, failed, play }: ReadingOptions): Reading {
  const audio = play ? undefined : new AudioContext();
  const speaker = createSpeaker({
    fetch: (words, signal) => fetchSpeech(link, words, signal),
    play: play ?? ((sound) => playSound(audio!, sound)),
    changed() {
      if (speaker.busy) return;
      void audio?.close();
      ended();
    },
    failed,
  });
  const sentences = createSentences();
  const parts = [...sentences.push(text), ...sentences.end()];
  for (const part of parts) speaker.say(part);
  if (parts.length === 0) queueMicrotask(ended);
  return { stop: () => speaker.stop() };
}

/** Talk mode: what is spoken is sent, and the answer is spoken while it is written. */
import type { EventPayload } from "openclaw/client";
import { createSignal, type Signal } from "../../../base/signal.ts";
import { failureText } from "../../../link/failure.ts";
import type { Link } from "../../../link/link.ts";
import type { Conversation } from "../model/conversation.ts";
import { NoMicrophone, openEars, type Ears } from "./microphone.ts";
import { createRecorder } from "./recorder.ts";
import { createSentences } from "./sentences.ts";
import { createSpeaker } from "./speaker.ts";
import { t } from "../../../words/words.ts";

export type TalkPhase = "starting" | "listening" | "recognising" | "answering" | "speaking" | "off";

export interface TalkState {
  readonly phase: TalkPhase;
  /** What went wrong, or is missing; talking goes on unless it is off. */
  readonly note?: string | undefined;
}

export interface Talk {
  readonly state: Signal<TalkState>;
  end(): void;
}

export interface TalkOptions {
  readonly link: Pick<Link, "request" | "on">;
  readonly conversation: Pick<Conversation, "send" | "state">;
  readonly open?: (hear: (samples: Float32Array, rate: number) => void) => Promise<Ears>;
}

const NO_RECOGNISER = t(
  "Speech recognition is not set up on the gateway. Install whisper.cpp, add a key for OpenAI, Groq, Deepgram or Google, or set tools.media.audio.models.",
);
const NO_SPEAKER = t("Answers are shown, not spoken: text-to-speech is not set up on the gateway. Install espeak-ng, or set messages.tts.");
const NO_WORDS = t("No speech was recognised. Try again, closer to the microphone.");

const bytesOf = (base64: string): ArrayBuffer => Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0)).buffer;

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 32_768) text += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return btoa(text);
}

/** The sound of a text; undefined: there is nothing in it to be heard. */
export async function fetchSpeech(link: Pick<Link, "request">, text: string, signal: AbortSignal): Promise<ArrayBuffer | undefined> {
  const { audioBase64 } = await link.request("talk.speak", { text }, { signal });
  return audioBase64 === "" ? undefined : bytesOf(audioBase64);
}

/** The answer of one run as sentences, while it is written. */
function createFollower(say: (text: string) => void) {
  let runId: string | undefined;
  let sentences = createSentences();
  return {
    get waits() {
      return runId !== undefined;
    },
    follow(next: string | undefined): void {
      runId = next;
      sentences = createSentences();
    },
    /** True: the answer is complete. */
    take(event: EventPayload<"agent">): boolean {
      if (event.runId !== runId) return false;
      if (event.stream === "assistant") sentences.push(event.data.text).forEach(say);
      if (event.stream !== "lifecycle" || event.data.phase === "start") return false;
      sentences.end().forEach(say);
      runId = undefined;
      return true;
    },
  };
}

export function createTalk({ link, conversation, open = openEars }: TalkOptions): Talk {
  const state = createSignal<TalkState>({ phase: "starting" });
  let ears: Ears | undefined;
  let isOver = false;
  let recognising = 0;
  let mayInterrupt = true;
  let speaks = true;

  const speaker = createSpeaker({
    fetch: (text, signal) => fetchSpeech(link, text, signal),
    play: (sound) => ears!.play(sound),
    changed: () => show(),
    failed: (error) => show(t`The answer could not be spoken: ${failureText(error)}`),
  });

  function show(note = state.value.note): void {
    if (isOver) return;
    const phase: TalkPhase = speaker.busy ? "speaking" : recognising > 0 ? "recognising" : answer.waits ? "answering" : "listening";
    state.set({ phase, ...(note === undefined ? {} : { note }) });
  }

  function finish(note?: string): void {
    if (isOver) return;
    isOver = true;
    speaker.stop();
    ears?.close();
    heard[Symbol.dispose]();
    state.set({ phase: "off", ...(note === undefined ? {} : { note }) });
  }

  const answer = createFollower((text) => void (speaks && speaker.say(text)));
  const heard = link.on("agent", (event) => void (answer.take(event) && show()));

  async function recognise(wav: Uint8Array): Promise<void> {
    recognising += 1;
    show("");
    try {
      const { sessionKey } = conversation.state.value;
      const { text } = await link.request("talk.transcribe", { audioBase64: base64Of(wav), mimeType: "audio/wav", sessionKey });
      if (isOver) return;
      if (text === "") return show(NO_WORDS);
      speaker.stop();
      answer.follow(conversation.send({ text, attachments: [] }));
    } catch (error) {
      show(failureText(error));
    } finally {
      recognising -= 1;
      show();
    }
  }

  const recorder = createRecorder({
    began() {
      if (!mayInterrupt || !speaker.busy) return;
      speaker.stop();
      // What follows of this answer is read, not heard.
      answer.follow(undefined);
      show();
    },
    // While it speaks and may not be interrupted, it would hear itself.
    ended: (wav) => void (mayInterrupt || !speaker.busy ? recognise(wav) : undefined),
  });

  async function begin(): Promise<void> {
    const ready = await link.request("talk.ready", {});
    if (ready.hears.length === 0) return finish(NO_RECOGNISER);
    mayInterrupt = ready.interruptOnSpeech;
    speaks = ready.speaks.length > 0;
    const opened = await open((samples, rate) => recorder.push(samples, rate));
    if (isOver) return opened.close();
    ears = opened;
    show(speaks ? undefined : NO_SPEAKER);
  }
  begin().catch((error: unknown) => finish(error instanceof NoMicrophone ? error.message : t`Could not start talk mode: ${failureText(error)}`));

  return {
    state,
    end: () => finish(),
  };
}

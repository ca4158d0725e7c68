import { describe, expect, test } from "vitest";
import { createSignal } from "../../../base/signal.ts";
import type { Ears } from "./microphone.ts";
import { NoMicrophone } from "./microphone.ts";
import { createRecorder, resampled, wavOf } from "./recorder.ts";
import { createSentences } from "./sentences.ts";
import { createSpeaker, type Playing } from "./speaker.ts";
import { createTalk, type TalkOptions } from "./talk.ts";

const RATE = 48_000;
const FRAME = 1024;
const FRAME_MS = (FRAME / RATE) * 1000;
const loud = Float32Array.from({ length: FRAME }, (_, at) => Math.sin(at / 5) * 0.3);
const quiet = Float32Array.from({ length: FRAME }, (_, at) => Math.sin(at) * 0.001);

describe("sentences of an answer", () => {
  /** What is given out when a text comes letter by letter. */
  function spoken(...texts: readonly string[]): string[] {
    const sentences = createSentences();
    const found = texts.flatMap((text) => text.split("").flatMap((_, at) => [...sentences.push(text.slice(0, at + 1))]));
    return [...found, ...sentences.end()];
  }

  test("each is given out as soon as it is complete, short ones with the next", () => {
    expect(spoken("Yes. Dinner is ready now! Come to the table (quickly). Bye")).toEqual(["Yes. Dinner is ready now!", "Come to the table (quickly).", "Bye"]);
    expect(createSentences().push("Dinner is ready now. ")).toEqual(["Dinner is ready now."]);
    expect(createSentences().push("Version 1.2.3 of the pro")).toEqual([]);
  });

  test("code is not spoken, a very long sentence is cut, and a new message of the run begins again", () => {
    expect(spoken("Run this command here:\n```sh\nrm -rf everything. At once.\n```\nThen wait a moment.")).toEqual([
      "Run this command here:",
      "Then wait a moment.",
    ]);
    const long = spoken("word, ".repeat(100));
    expect(long.length).toBeGreaterThan(1);
    expect(Math.max(...long.map(({ length }) => length))).toBeLessThanOrEqual(301);
    expect(spoken("I look that up first", "It is twelve o'clock now")).toEqual(["I look that up first", "It is twelve o'clock now"]);
  });
});

describe("recordings", () => {
  test("are WAV files of what was said, with the moment before it, and end with a pause", () => {
    const events: string[] = [];
    const wavs: Uint8Array[] = [];
    const recorder = createRecorder({ began: () => events.push("began"), ended: (wav) => (events.push("ended"), wavs.push(wav)) });
    for (let at = 0; at < 100; at += 1) recorder.push(quiet, RATE);
    for (let at = 0; at < 40; at += 1) recorder.push(loud, RATE);
    for (let at = 0; at < 60; at += 1) recorder.push(quiet, RATE);
    expect(events).toEqual(["began", "ended"]);
    const view = new DataView(wavs[0]!.buffer);
    expect([view.getUint32(24, true), view.getUint16(34, true)]).toEqual([16_000, 16]);
    const seconds = (wavs[0]!.length - 44) / 2 / 16_000;
    expect(seconds).toBeGreaterThan(0.4 + 0.85 + 0.8);
    expect(seconds).toBeLessThan(0.4 + 0.86 + 1);
  });

  test("a click is no speech, and noise that stays is not either", () => {
    const events: string[] = [];
    const recorder = createRecorder({ began: () => events.push("began"), ended: () => events.push("ended") });
    for (const part of [quiet, loud, quiet, quiet, loud, quiet]) recorder.push(part, RATE);
    const hum = Float32Array.from({ length: FRAME }, (_, at) => Math.sin(at) * 0.012);
    for (let at = 0; at < 200; at += 1) recorder.push(hum, RATE);
    expect(events).toEqual([]);
  });

  test("hours of speech do not fill the memory", () => {
    const wavs: number[] = [];
    const recorder = createRecorder({ began() {}, ended: ({ length }) => wavs.push(length) });
    for (let at = 0; at < 130_000 / FRAME_MS; at += 1) recorder.push(loud, RATE);
    expect(wavs).toHaveLength(2);
    expect(Math.max(...wavs)).toBeLessThan(61 * 16_000 * 2);
  });

  test("samples are brought to the rate that recognisers want", () => {
    expect(resampled(new Float32Array(4800), RATE).length).toBe(1600);
    expect(resampled(new Float32Array(100), 8000).length).toBe(100);
    expect(wavOf([Float32Array.of(2, -2)], 8000).slice(44)).toEqual(Uint8Array.of(0xff, 0x7f, 0x01, 0x80));
  });
});

test("texts are heard in their order, fetched ahead, and silent at once when that is wanted", async () => {
  const asked: string[] = [];
  const heard: string[] = [];
  const ends: (() => void)[] = [];
  let stopped = 0;
  const speaker = createSpeaker({
    async fetch(text) {
      asked.push(text);
      if (text === "fails") throw new Error("no voice");
      return text === "silent" ? undefined : (text as unknown as ArrayBuffer);
    },
    async play(sound): Promise<Playing> {
      heard.push(sound as unknown as string);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.push(resolve);
      return {
        ended: promise,
        stop() {
          stopped += 1;
          resolve();
        },
      };
    },
    changed() {},
    failed: (error) => heard.push(String(error)),
  });
  for (const text of ["one", "silent", "fails", "two", "three", "four"]) speaker.say(text);
  await expect.poll(() => heard).toEqual(["one"]);
  expect(asked.length).toBeLessThan(5);
  ends.shift()!();
  await expect.poll(() => heard).toEqual(["one", "Error: no voice", "two"]);
  speaker.stop();
  expect([speaker.busy, stopped]).toEqual([false, 1]);
  speaker.say("after");
  await expect.poll(() => heard.at(-1)).toBe("after");
  expect(heard).not.toContain("three");
});

describe("talking", () => {
  type Listener = (payload: unknown) => void;

  function lab(ready: { hears: string[]; speaks: string[]; interruptOnSpeech: boolean }, over: Partial<TalkOptions> = {}) {
    const listeners = new Set<Listener>();
    const spoken: string[] = [];
    const sent: string[] = [];
    let hear: Parameters<NonNullable<TalkOptions["open"]>>[0] = () => {};
    let playing = 0;
    const link = {
      async request(method: string, params: { text?: string }) {
        if (method === "talk.ready") return ready;
        if (method === "talk.transcribe") return { text: "what is the time", provider: "test" };
        spoken.push(params.text!);
        return { audioBase64: "AAAA", mimeType: "audio/wav", provider: "test", outputFormat: "wav" };
      },
      on(_event: string, listener: Listener) {
        listeners.add(listener);
        return { [Symbol.dispose]: () => void listeners.delete(listener) };
      },
    } as unknown as TalkOptions["link"];
    const conversation = {
      state: createSignal({ sessionKey: "agent:main:main" }),
      send({ text }: { text: string }) {
        sent.push(text);
        return `run-${sent.length}`;
      },
    } as unknown as TalkOptions["conversation"];
    const ears: Ears = {
      close() {},
      async play() {
        playing += 1;
        const { promise, resolve } = Promise.withResolvers<void>();
        return { ended: promise, stop: () => ((playing -= 1), resolve()) };
      },
    };
    const open: TalkOptions["open"] = async (listener) => {
      hear = listener;
      return ears;
    };
    const talk = createTalk({ link, conversation, open, ...over });
    const emit = (stream: string, data: unknown, runId = "run-1") => {
      for (const listener of listeners) listener({ runId, stream, data });
    };
    const speak = (frames: number, samples: Float32Array) => {
      for (let at = 0; at < frames; at += 1) hear(samples, RATE);
    };
    return { talk, spoken, sent, emit, speak, playing: () => playing };
  }

  const READY = { hears: ["a"], speaks: ["b"], interruptOnSpeech: true };

  test("what is spoken is sent, and each sentence of the answer is spoken while the rest is written", async () => {
    const { talk, spoken, sent, emit, speak } = lab(READY);
    await expect.poll(() => talk.state.value.phase).toBe("listening");
    speak(20, loud);
    speak(60, quiet);
    await expect.poll(() => sent).toEqual(["what is the time"]);
    emit("assistant", { text: "It is twelve o'clock. The sun is" });
    await expect.poll(() => spoken).toEqual(["It is twelve o'clock."]);
    expect(talk.state.value.phase).toBe("speaking");
    emit("assistant", { text: "Not this one of another run. " }, "other");
    emit("assistant", { text: "It is twelve o'clock. The sun is high" });
    emit("lifecycle", { phase: "end" });
    await expect.poll(() => spoken).toEqual(["It is twelve o'clock.", "The sun is high"]);
    talk.end();
    expect(talk.state.value.phase).toBe("off");
  });

  test("speech stops within 150 ms of the user's, and nothing more of that answer is heard", async () => {
    const { talk, spoken, emit, speak, sent, playing } = lab(READY);
    await expect.poll(() => talk.state.value.phase).toBe("listening");
    speak(20, loud);
    speak(60, quiet);
    await expect.poll(() => sent.length).toBe(1);
    emit("assistant", { text: "It is twelve o'clock. The sun is high. " });
    await expect.poll(playing).toBe(1);
    let frames = 0;
    while (playing() > 0) {
      speak(1, loud);
      frames += 1;
    }
    expect(frames * FRAME_MS).toBeLessThanOrEqual(150);
    emit("assistant", { text: "It is twelve o'clock. The sun is high. Birds sing in the trees. " });
    expect(spoken).not.toContain("Birds sing in the trees.");
    speak(60, quiet);
    await expect.poll(() => sent.length).toBe(2);
  });

  test("what is missing is said", async () => {
    const deaf = lab({ ...READY, hears: [] });
    await expect.poll(() => deaf.talk.state.value).toEqual({ phase: "off", note: expect.stringContaining("Speech recognition is not set up") });
    const dumb = lab({ ...READY, speaks: [] });
    await expect.poll(() => dumb.talk.state.value).toEqual({ phase: "listening", note: expect.stringContaining("not spoken") });
    const blocked = lab(READY, { open: () => Promise.reject(new NoMicrophone("The microphone is blocked for this page.")) });
    await expect.poll(() => blocked.talk.state.value).toEqual({ phase: "off", note: "The microphone is blocked for this page." });
  });
});

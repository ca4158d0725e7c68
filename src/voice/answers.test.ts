import { expect, test } from "vitest";
import { manualClock } from "../base/clock.ts";
import { silentLogger, type Logger } from "../base/log/logger.ts";
import { createAnswers, voiceHint, type AnswersDeps, type AnswerToSpeak, type Summarise } from "./answers.ts";
import type { SpeechRequest } from "./create-voice.ts";
import { readOverrides } from "./overrides.ts";
import type { Preferences } from "./preferences.ts";
import { cutSpeech, speakable } from "./speakable.ts";

type Tts = ReturnType<AnswersDeps["tts"]>;

const summary: Summarise = async ({ maxChars }) => `**Shorter**, for ${maxChars}.`;

function lab(
  tts: Tts,
  {
    preferences = {},
    summarise = summary,
    convert,
    clock = manualClock(),
    log = silentLogger,
  }: Partial<Pick<AnswersDeps, "summarise" | "convert" | "log">> & { preferences?: Preferences; clock?: ReturnType<typeof manualClock> } = {},
) {
  const asked: SpeechRequest[] = [];
  const speak = createAnswers({
    tts: () => tts,
    preferences: () => preferences,
    clock,
    log,
    summarise,
    async convert(request) {
      asked.push(request);
      return convert ? convert(request) : { audioPath: "/a.wav", provider: "local", outputFormat: "wav", voiceCompatible: false, failures: [] };
    },
  });
  const answer = async (over: Partial<AnswerToSpeak> = {}): Promise<boolean> =>
    (await speak({
      text: "Dinner is ready now.",
      kind: "final",
      channel: "telegram",
      agentId: "main",
      sessionKey: "agent:main:main",
      isToSpeech: false,
      signal: new AbortController().signal,
      ...over,
    })) !== undefined;
  return { asked, answer };
}

test("the mode of the session wins over that of the settings file, and that over the configuration", async () => {
  expect(await lab({}).answer()).toBe(false);
  expect(await lab({ enabled: true }).answer()).toBe(true);
  expect(await lab({ auto: "always" }).answer()).toBe(true);
  expect(await lab({ auto: "always" }, { preferences: { auto: "off" } }).answer()).toBe(false);
  expect(await lab({ auto: "always" }, { preferences: { auto: "off" } }).answer({ auto: "always" })).toBe(true);
  expect(await lab({ auto: "always" }).answer({ auto: "nonsense" })).toBe(true);
});

test("inbound speaks answers to voice notes, tagged those that the agent marks", async () => {
  const inbound = lab({ auto: "inbound" });
  expect([await inbound.answer(), await inbound.answer({ isToSpeech: true })]).toEqual([false, true]);
  const tagged = lab({ auto: "tagged" });
  expect([await tagged.answer(), await tagged.answer({ tags: [""] }), await tagged.answer({ spokenText: "Hi" })]).toEqual([false, true, true]);
  expect(tagged.asked.map(({ text }) => text)).toEqual(["Dinner is ready now.", "Hi"]);
});

test("tags do nothing where they are switched off, and are never read aloud", async () => {
  expect(await lab({ auto: "tagged", modelOverrides: { enabled: false } }).answer({ tags: [""], spokenText: "Hi" })).toBe(false);
  expect(speakable("[[tts:voice=nova]] Hello [[tts:text]]there[[/tts:text]]\n[[audio_as_voice]]\nMEDIA:/tmp/a.png")).toBe("Hello there");
  expect(speakable("NO_REPLY")).toBe("");
});

test("parts of an answer are spoken only where all of it is; few words are not", async () => {
  expect(await lab({ auto: "always" }).answer({ kind: "block" })).toBe(false);
  expect(await lab({ auto: "always", mode: "all" }).answer({ kind: "tool" })).toBe(true);
  expect(await lab({ auto: "always" }).answer({ text: "**OK!** 👍" })).toBe(false);
});

test("long answers are summed up, or not spoken, as people chose", async () => {
  const text = "A long answer. ".repeat(200);
  const summed = lab({ auto: "always", summaryModel: "fast" });
  expect(await summed.answer({ text })).toBe(true);
  expect(summed.asked[0]!.text).toBe("Shorter, for 1500.");
  const short = lab({ auto: "always" }, { preferences: { maxLength: 100 }, summarise: async () => "One. Two is longer. ".repeat(20) });
  expect(await short.answer({ text })).toBe(true);
  expect(short.asked[0]!.text.length).toBeLessThanOrEqual(100);
  expect(await lab({ auto: "always" }, { preferences: { summarize: false } }).answer({ text })).toBe(false);
});

test("an answer goes out without sound, with one line in the log, when speech fails or takes too long", async () => {
  const lines: string[] = [];
  const log = { ...silentLogger, warn: (line: string) => void lines.push(line) } as Logger;
  const failing = lab({ auto: "always" }, { log, convert: () => Promise.reject(new Error("nobody can speak")) });
  expect(await failing.answer()).toBe(false);
  const clock = manualClock();
  const hanging = lab(
    { auto: "always", timeoutMs: 5000 },
    {
      log,
      clock,
      convert: ({ signal }) => new Promise((_, reject) => signal!.addEventListener("abort", () => reject(new Error("aborted")), { once: true })),
    },
  );
  const waiting = hanging.answer();
  await Promise.resolve();
  await Promise.resolve();
  clock.advance(5000);
  expect(await waiting).toBe(false);
  expect(lines).toEqual(["an answer is sent without audio: nobody can speak", "an answer is sent without audio: it took too long"]);
});

test("an agent chooses voice, model and the like where it may, and only what exists", () => {
  const tags = [
    "provider=openai voice=nova",
    "voiceId=abcdefghij stability=0.3 speed=9 seed=7 apply_text_normalization=on languageCode=DE model=eleven_v3",
    "evil=1",
  ];
  expect(readOverrides(tags)).toEqual({
    provider: "openai",
    openai: { voice: "nova" },
    elevenlabs: {
      voiceId: "abcdefghij",
      voiceSettings: { stability: 0.3 },
      seed: 7,
      applyTextNormalization: "on",
      languageCode: "de",
      modelId: "eleven_v3",
    },
  });
  expect(readOverrides(tags, { allowProvider: false, allowVoice: false, allowVoiceSettings: false, allowNormalization: false, allowModelId: false })).toEqual({
    openai: {},
    elevenlabs: { seed: 7 },
  });
  expect(readOverrides(tags, { enabled: false })).toEqual({});
  expect(readOverrides(["voice=a/../b provider=nobody"])).toEqual({});
});

test("the agent knows how answers are spoken, where they are", () => {
  expect(voiceHint({}, {})).toBeUndefined();
  expect(voiceHint({ auto: "tagged" }, { maxLength: 800 })).toContain("below 800 characters");
  expect(voiceHint({ auto: "always", modelOverrides: { enabled: false } }, {})).not.toContain("[[tts:text]]");
});

test("nothing but words is spoken", () => {
  const text = speakable(
    "# News\n\nSee [the **page**](https://a.b/c) or https://x.y/z.\n\n```js\nrun()\n```\n- one `two`\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\nsnake_case 2*3*4 🎉",
  );
  expect(text).toBe("News\n\nSee the page or .\n\none two\n\na b\n\n1 2\n\nsnake_case 2*3*4");
  expect(cutSpeech("One sentence. Another sentence here.", 20)).toBe("One sentence.");
  expect(cutSpeech("word ".repeat(10), 12)).toBe("word word");
});

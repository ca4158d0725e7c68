/** Answers that are spoken by themselves, with a program on this machine. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createIds } from "../../src/base/ids.ts";
import { silentLogger } from "../../src/base/log/logger.ts";
import { systemRandom } from "../../src/base/random.ts";
import type { Config, OpenClawConfig } from "../../src/config/index.ts";
import type { AnswerSpeech } from "../../src/conversation/index.ts";
import type { ChannelOutboundContext, ChannelPlugin } from "../../src/protocol/index.ts";
import { createLazyVoice, mayBeSpoken } from "../../src/voice/index.ts";
import { event, openPlace, OPEN } from "./place.ts";

const folder = mkdtempSync(join(tmpdir(), "openclaw-spoken-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = join(folder, "speak");
writeFileSync(program, '#!/bin/sh\nprintf "RIFF----WAVEdata\\377\\377\\377\\177%s" "$(cat)" > "$1"\n');
chmodSync(program, 0o755);

type Tts = NonNullable<NonNullable<OpenClawConfig["messages"]>["tts"]>;

async function lab(tts: Tts, more: OpenClawConfig = {}) {
  const current: OpenClawConfig = {
    ...OPEN,
    ...more,
    messages: { tts: { provider: "local", edge: { enabled: false }, local: { command: program, args: ["{file}"] }, ...tts } },
  };
  const config = { current, env: () => ({ PATH: "/usr/bin:/bin" }), paths: { state: folder, home: folder } } as unknown as Config;
  const auth = { candidates: async () => [] } as never;
  const voice = createLazyVoice({
    config,
    clock: systemClock,
    ids: createIds(systemRandom),
    log: silentLogger,
    auth: async () => auth,
    summarise: async ({ text }) => text,
  });
  const speech: AnswerSpeech = {
    isWanted: (entry) => mayBeSpoken(config, entry?.["ttsAuto"]),
    speak: async (answer) => (await voice()).speakAnswer(answer),
    hint: async (entry) => (await voice()).hint(entry?.["ttsAuto"]),
  };
  const all: ChannelOutboundContext[] = [];
  const keep = async (context: ChannelOutboundContext) => {
    all.push(context);
    return { channel: "test", messageId: `m${all.length}` };
  };
  const channel: Partial<ChannelPlugin> = { outbound: { deliveryMode: "direct", textChunkLimit: 4000, sendText: keep, sendMedia: keep } };
  const place = await openPlace(current, { channel, speech });
  return { place, all, voice };
}

/** The answers are echoes of what was said, behind a line about it. */
const spokenIn = ({ mediaUrl }: ChannelOutboundContext): string => readFileSync(mediaUrl!, "latin1").slice(20);

test("an answer is followed by its sound, as a voice note where there are some", async () => {
  const { place, all } = await lab({ auto: "always" });
  await using _place = place;
  await place.inbound.accept(event("Dinner is **ready**."));
  await expect.poll(() => all.length).toBe(2);
  expect(all[0]!.text).toContain("Dinner is **ready**.");
  expect(all[1]).toMatchObject({ text: "", audioAsVoice: true });
  expect(spokenIn(all[1]!)).toContain("Dinner is ready.");
  expect(all[1]!.mediaUrl).toContain(join(folder, "media", "outbound"));
});

test("words for the ear are not shown, and shown after all where nothing speaks", async () => {
  const text = "[[tts:text]]Hello, dear.[[/tts:text]]";
  const tagged = await lab({ auto: "tagged" });
  await using _tagged = tagged.place;
  await tagged.place.inbound.accept(event(`Hello. ${text}`));
  await expect.poll(() => tagged.all.length).toBe(2);
  expect(tagged.all[0]!.text).not.toContain("dear");
  expect(spokenIn(tagged.all[1]!)).toBe("Hello, dear.");
  const broken = await lab({ auto: "always", local: { command: "/nowhere" } });
  await using _broken = broken.place;
  await broken.place.inbound.accept(event(`Hello. ${text}`));
  await expect.poll(() => broken.all.length).toBe(1);
  await broken.place.quiet();
  expect(broken.all).toHaveLength(1);
  expect(broken.all[0]!.text).toContain("Hello.");
});

test("without any wish for it nothing is loaded or spoken; what was chosen in a chat holds from then on", async () => {
  const { place, all, voice } = await lab({});
  await using _place = place;
  await place.inbound.accept(event("Dinner is ready."));
  await expect.poll(() => all.length).toBe(1);
  await place.quiet();
  expect(all).toHaveLength(1);
  (await voice()).change({ auto: "always" });
  expect(existsSync(join(folder, "settings", "tts.json"))).toBe(true);
  await place.inbound.accept(event("Dinner is cold."));
  await expect.poll(() => all.length).toBe(3);
  rmSync(join(folder, "settings"), { recursive: true });
});

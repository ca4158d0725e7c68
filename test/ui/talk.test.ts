/** Talk mode in a real browser whose microphone is a file, with a recogniser and a voice on this machine. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { canHear, NEEDED, recogniser, spoken } from "../harness/spoken.ts";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const SAID = "turn on the kitchen light";
const hears = canHear();
const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:${name}`)}`;
const button = (page: Page, name: string): Locator => page.getByRole("button", { name, exact: true });
const own = (page: Page): Locator => page.locator("oc-transcript").getByText(SAID, { exact: true });

describeInBrowser("talk mode", () => {
  const folder = mkdtempSync(join(tmpdir(), "openclaw-talk-"));
  let scene: Scene;
  beforeAll(async () => {
    const file = join(folder, "microphone.wav");
    // The browser plays it over and over.
    if (hears) writeFileSync(file, spoken(SAID, { rate: 48_000, before: 0.3, after: 1.4 }));
    scene = await openScene({
      model: "mock",
      config: {
        tools: { media: { audio: { models: [recogniser(join(folder, "words.gram"), SAID)] } } },
        messages: { tts: { provider: "local", edge: { enabled: false } } },
      },
      browser: { build: "whole", flags: ["--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${file}`] },
    });
  });
  afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("what is spoken is answered and heard; speaking again interrupts", async (context) => {
    context.skip(!hears, NEEDED);
    const page = await scene.open(session("spoken"), { permissions: ["microphone"] });
    const answer = { say: "The kitchen light is on now, and it will stay on until you tell me to turn it off again. ".repeat(6) };
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify([answer, answer]) });
    await button(page, "Talk").click();
    await page.getByText("Listening", { exact: true }).waitFor();
    await own(page).first().waitFor();
    await page.getByText("Speaking. Talk to interrupt.").waitFor();
    // The second time it is heard, the answer to the first is cut off.
    await page.getByText("Speaking. Talk to interrupt.").waitFor({ state: "detached" });
    await expect.poll(() => own(page).count()).toBeGreaterThanOrEqual(2);
    await button(page, "Stop talking").click();
    await button(page, "Talk").waitFor();
  });

  test("an answer is read aloud until it is stopped, and a text as audio is played and saved", async (context) => {
    context.skip(!hears, NEEDED);
    const page = await scene.open(session("aloud"));
    const answer = { say: "The kitchen light is on now, and it will stay on until you tell me to turn it off again. ".repeat(4) };
    await fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify([answer]) });
    const composer = page.getByRole("textbox", { name: "Message", exact: true });
    await composer.fill("hello");
    await composer.press("Enter");
    await button(page, "Read aloud").click();
    await button(page, "Stop reading aloud").click();
    await button(page, "Read aloud").waitFor();
    await composer.fill("/tts audio Dinner is ready");
    await composer.press("Enter");
    const player = page.locator("oc-chat-file audio");
    await player.waitFor();
    await expect.poll(() => player.evaluate((audio) => (audio as unknown as { duration: number }).duration)).toBeGreaterThan(0.3);
    const saving = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download" }).click();
    expect((await saving).suggestedFilename()).toMatch(/^voice---.*\.wav$/);
    expect(await page.locator("oc-transcript").getByText("MEDIA:").count()).toBe(0);
  });

  test("a microphone that is not allowed is said, and writing still works", async () => {
    const page = await scene.open(session("blocked"));
    await button(page, "Talk").click();
    await page.getByText(/microphone is blocked for this page/).waitFor();
    await button(page, "Talk").waitFor();
    expect(await page.getByRole("textbox", { name: "Message", exact: true }).isEnabled()).toBe(true);
  });
});

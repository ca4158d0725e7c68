import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock" });
});
afterEach(() => Promise.all(scene.browser.contexts().map((window) => window.close())));
afterAll(() => scene[Symbol.asyncDispose]());

const session = (name: string): string => encodeURIComponent(`agent:main:web:${name}`);

async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Message", exact: true });
  await box.fill(text);
  await box.press("Enter");
}

/** Has a run with a tool that is over, and opens its trace. */
async function traced(name: string): Promise<Page> {
  const page = await scene.open(`chat/${session(name)}`);
  await say(page, '@chunks=6 @tool=read @args={"path":"note.txt"}');
  await page.locator("oc-transcript").getByText("w4 w5").waitFor({ timeout: 25_000 });
  await page.goto(`${scene.url}/trace/${session(name)}`);
  await page.getByRole("heading", { name: /^Answered after/ }).waitFor();
  return page;
}

test("a run with a tool is drawn: waiting, both calls of the model, the tool between them; each tells what is known of it", async () => {
  const page = await traced("drawn");
  const names = await page
    .locator("oc-waterfall")
    .getByRole("button", { name: /, after / })
    .evaluateAll((rows) => rows.map((row) => row.getAttribute("aria-label")?.split(":")[0]));
  expect(names).toEqual(["Received", "Queue", "Turn", "m1", "read", "m1"]);
  await page.getByRole("button", { name: /^read: / }).click();
  const panel = page.getByRole("region", { name: "Step: read" });
  await panel.getByText("call id").waitFor();
  await page.getByRole("button", { name: /^m1: / }).last().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Step: m1" }).getByText("First token").waitFor();
});

test("it is zoomed by buttons and keys and shown whole again", async () => {
  const page = await traced("zoomed");
  const tool = page
    .getByRole("button", { name: /^read: / })
    .locator("rect.bar")
    .first();
  const width = async (): Promise<number> => Number(await tool.getAttribute("width"));
  const whole = page.getByRole("button", { name: "All of it" });
  expect(await whole.isDisabled()).toBe(true);
  const before = await width();
  await page.getByRole("button", { name: /^read: / }).focus();
  await page.keyboard.press("z");
  await expect.poll(width).toBeGreaterThan(Math.max(before * 2, 100));
  await whole.click();
  await expect.poll(width).toBe(before);
  await page.getByRole("button", { name: "Show less, larger" }).click();
  await expect.poll(() => whole.isDisabled()).toBe(false);
});

test("it is saved as a picture without leaving the browser", async () => {
  const page = await traced("saved");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as picture" }).click()]);
  const png = readFileSync(await download.path());
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.readUInt32BE(16)).toBeGreaterThan(800);
});

test("a run under way grows, is in the overview, and ends when it is stopped there", async () => {
  const page = await scene.open(`chat/${session("stopped")}`);
  await say(page, "@chunks=400 @gap=500");
  await page.locator("oc-transcript").getByText("w1").waitFor({ timeout: 25_000 });
  await page.goto(`${scene.url}/trace/${session("stopped")}`);
  await page.getByRole("heading", { name: /^Is being answered/ }).waitFor();
  const open = page.getByRole("button", { name: /the model is being asked/ });
  const words = await open.getAttribute("aria-label");
  await expect.poll(() => open.getAttribute("aria-label"), { timeout: 10_000 }).not.toBe(words);
  const overview = await scene.open("overview");
  await overview.getByRole("heading", { name: "Everything is all right" }).waitFor();
  await overview.getByRole("button", { name: "Stop the run of agent:main:web:stopped" }).click();
  await overview.getByText("Nothing runs and nothing waits").waitFor({ timeout: 15_000 });
  await page.getByRole("heading", { name: /^Stopped/ }).waitFor({ timeout: 15_000 });
});

test("recent runs of all sessions are listed and narrowed, and one is opened", async () => {
  const page = await traced("listed");
  await page.goto(`${scene.url}/trace`);
  const runs = page.locator("oc-run-list").getByRole("link");
  await runs.filter({ hasText: "agent:main:web:listed" }).waitFor();
  await page.getByLabel("Outcome").selectOption("answered");
  await expect.poll(() => new URL(page.url()).search).toBe("?outcome=answered");
  await runs.filter({ hasText: "agent:main:web:listed" }).click();
  await page.getByRole("heading", { name: /^Answered after/ }).waitFor();
});

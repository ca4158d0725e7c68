import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { choose } from "./harness/choose.ts";
import { openScene, type Scene } from "./harness/scene.ts";

let scene: Scene;
beforeAll(async () => {
  scene = await openScene({ model: "mock", config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
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
  await say(page, `@chunks=6 @tool=read @args={"path":"${name}.txt"}`);
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
  // What was asked, and what came of it.
  await panel.getByRole("region", { name: "Input" }).getByText('"path": "drawn.txt"').waitFor();
  await panel.getByRole("region", { name: "Result" }).waitFor();
  await page.getByRole("button", { name: /^m1: / }).last().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Step: m1" }).getByText("First token").waitFor();
  await page.getByRole("region", { name: "Step: m1" }).getByText("Stop reason").waitFor();
  // The terminal tells the same.
  expect(scene.cli("why", "agent:main:web:drawn").stdout).toMatch(/tool .*read: failed: drawn\.txt → /);
});

test("a command tells how it ended, and all of its output when it is asked for", async () => {
  const page = await scene.open(`chat/${session("long")}`);
  await say(page, '@chunks=6 @tool=exec @args={"command":"seq 1 3000; exit 3"}');
  await page.locator("oc-transcript").getByText("w4 w5").waitFor({ timeout: 25_000 });
  await page.goto(`${scene.url}/trace/${session("long")}`);
  await page.getByRole("button", { name: /^exec: .*exit code 3/ }).click();
  const panel = page.getByRole("region", { name: "Step: exec" });
  await panel.getByText("Exit code 3", { exact: true }).waitFor();
  expect(await panel.getByRole("region", { name: "Command" }).textContent()).toBe("seq 1 3000; exit 3");
  const output = panel.getByRole("region", { name: "Result" });
  expect(await output.textContent()).not.toContain("2999");
  await panel.getByRole("button", { name: /^Show all/ }).click();
  await expect.poll(() => output.textContent()).toContain("\n2999\n3000");
});

test("a message that waits has a bar that grows, and names what it waits for", async () => {
  const page = await scene.open(`chat/${session("queued")}`);
  await say(page, "@chunks=400 @gap=500");
  await page.locator("oc-transcript").getByText("w1").waitFor({ timeout: 25_000 });
  await say(page, "and then?");
  await page.locator("oc-queue").getByText("and then?").waitFor();
  const trace = await scene.open(`trace/${session("queued")}`);
  await trace.getByRole("heading", { name: "Queued, 1 ahead" }).waitFor();
  const bar = trace.getByRole("button", { name: /^Queue: queued until in:\d+ is answered/ });
  const words = await bar.getAttribute("aria-label");
  await expect.poll(() => bar.getAttribute("aria-label")).not.toBe(words);
  await bar.click();
  await trace
    .getByRole("region", { name: "Step: Queue" })
    .getByRole("link", { name: /^in:\d+$/ })
    .click();
  await trace.getByRole("heading", { name: /^In progress for/ }).waitFor();
  await trace.getByRole("button", { name: "Stop", exact: true }).click();
  await trace.getByRole("heading", { name: /^Stopped/ }).waitFor();
  await trace.goto(`${scene.url}/trace/${session("queued")}`);
  await trace.getByRole("heading", { name: /^Answered after/ }).waitFor();
});

test("it is zoomed by buttons and keys and shown whole again", async () => {
  const page = await traced("zoomed");
  const tool = page
    .getByRole("button", { name: /^read: / })
    .locator("rect.bar")
    .first();
  const width = async (): Promise<number> => Number(await tool.getAttribute("width"));
  const whole = page.getByRole("button", { name: "Reset zoom" });
  expect(await whole.isDisabled()).toBe(true);
  const before = await width();
  await page.getByRole("button", { name: /^read: / }).focus();
  await page.keyboard.press("z");
  // How much of the whole it was is the machine's business.
  await expect.poll(width).toBeGreaterThan(Math.max(before, 100));
  await whole.click();
  await expect.poll(width).toBe(before);
  await page.getByRole("button", { name: "Zoom in" }).click();
  await expect.poll(() => whole.isDisabled()).toBe(false);
});

test("it is saved as a picture without leaving the browser", async () => {
  const page = await traced("saved");
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as image" }).click()]);
  const png = readFileSync(await download.path());
  expect(png.subarray(1, 4).toString()).toBe("PNG");
  expect(png.readUInt32BE(16)).toBeGreaterThan(800);
});

test("a run in progress grows, is in the overview, and ends when it is stopped there", async () => {
  const page = await scene.open(`chat/${session("stopped")}`);
  await say(page, "@chunks=400 @gap=500 halt");
  await page.locator("oc-transcript").getByText("w1").waitFor({ timeout: 25_000 });
  await page.goto(`${scene.url}/trace/${session("stopped")}`);
  await page.getByRole("heading", { name: /^In progress for/ }).waitFor();
  const open = page.getByRole("button", { name: /waiting for the model/ });
  const words = await open.getAttribute("aria-label");
  await expect.poll(() => open.getAttribute("aria-label")).not.toBe(words);
  const overview = await scene.open("overview");
  await overview.getByRole("heading", { name: "All systems normal" }).waitFor();
  await overview.getByRole("button", { name: /^Stop the run of .*(halt|web:stopped)/ }).click();
  await overview.getByText("Idle", { exact: true }).waitFor({ timeout: 15_000 });
  await page.getByRole("heading", { name: /^Stopped/ }).waitFor({ timeout: 15_000 });
});

test("recent runs of all sessions are listed and narrowed, and one is opened", async () => {
  const page = await traced("listed");
  await page.goto(`${scene.url}/trace`);
  const runs = page.locator("oc-run-list").getByRole("link");
  const mine = runs.filter({ hasText: "listed.txt" });
  await mine.waitFor();
  // What was asked is its name; how it went, and when, stands beside.
  expect(await mine.locator(".text").textContent()).toBe('@chunks=6 @tool=read @args={"path":"listed.txt"}');
  expect(await mine.textContent()).toMatch(/Answered after/);
  await choose(page.getByLabel("Outcome"), "answered");
  await expect.poll(() => new URL(page.url()).search).toBe("?outcome=answered");
  await mine.click();
  await page.getByRole("heading", { name: /^Answered after/ }).waitFor();
});

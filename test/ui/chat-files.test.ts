import { readFileSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { describeInBrowser } from "./harness/in-browser.ts";
import { openScene, type Scene } from "./harness/scene.ts";

const session = (name: string): string => `chat/${encodeURIComponent(`agent:main:web:files-${name}`)}`;
const box = (page: Page): Locator => page.getByRole("textbox", { name: "Message", exact: true });
const log = (page: Page): Locator => page.locator("oc-transcript");
const queue = (page: Page): Locator => page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
const attached = (page: Page): Locator => page.getByRole("list", { name: "Attached" }).getByRole("listitem");
/** Waits as long as anything else in a browser is waited for. */
const SOON = { timeout: 15_000 };
const PNG = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");
const CSV = `name,amount\n${Array.from({ length: 800 }, (_, at) => `row ${at},${at * 7}`).join("\n")}\nlast line of the file,1\n`;
const ZIP = Buffer.from([0x50, 0x4b, 0x05, 0x06, ...Array.from({ length: 18 }, () => 0)]);

interface Chosen {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

const csv: Chosen = { name: "numbers.csv", mimeType: "text/csv", buffer: Buffer.from(CSV) };

async function say(page: Page, text: string, ...files: readonly Chosen[]): Promise<void> {
  if (files.length > 0) {
    await page.locator("oc-composer input[type=file]").setInputFiles([...files]);
    await expect.poll(() => attached(page).count(), SOON).toBe(files.length);
  }
  await box(page).fill(text);
  await box(page).press("Enter");
}

describeInBrowser("files of messages", () => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await openScene({ model: "mock", config: { tools: { exec: { host: "gateway", security: "full", ask: "off" } } } });
  });
  afterEach(async () => void (await Promise.all(scene.browser.contexts().map((window: BrowserContext) => window.close()))));
  afterAll(() => scene?.[Symbol.asyncDispose]());
  const plan = (steps: readonly object[]): Promise<unknown> => fetch(`${scene.modelUrl}/next`, { method: "POST", body: JSON.stringify(steps) });

  test("a file that was sent is a card with type, size and first lines, opens and is saved, also after a reload and in another browser", async () => {
    const first = await scene.open(session("card"));
    // A document that cannot be read leaves a note behind the names of the files.
    const broken = { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("%PDF-1.4 broken") };
    await say(first, "look at these", csv, { name: "empty.zip", mimeType: "application/zip", buffer: ZIP }, broken);
    const card = (page: Page, name: string): Locator => log(page).locator("oc-chat-attachment", { hasText: name });
    await card(first, "numbers.csv").waitFor();
    await first.reload();
    const other = await scene.open(session("card"));
    for (const page of [first, other]) {
      await card(page, "numbers.csv").getByText("CSV · ", { exact: false }).waitFor();
      await card(page, "numbers.csv").getByText("name,amount row 0,0 row 1,7", { exact: false }).waitFor();
      await card(page, "empty.zip").getByText("ZIP · 22 B", { exact: false }).waitFor();
      await log(page).getByText("broken.pdf could not be read", { exact: false }).waitFor();
      expect(await log(page).locator(".bubble").allInnerTexts()).toEqual(["look at these"]);
      await page.locator("oc-chat-header").getByText("look at these", { exact: true }).waitFor();
      await page.locator("oc-chat-sidebar .title").getByText("look at these", { exact: true }).waitFor();
    }
    await card(other, "numbers.csv").getByRole("button", { name: "Open numbers.csv" }).click();
    const viewer = other.getByRole("dialog", { name: "numbers.csv" });
    await viewer.getByText("last line of the file").waitFor();
    const [saved] = await Promise.all([other.waitForEvent("download"), viewer.getByRole("button", { name: "Save" }).click()]);
    expect([saved.suggestedFilename(), readFileSync(await saved.path(), "utf8")]).toEqual(["numbers.csv", CSV]);
    await other.keyboard.press("Escape");
    await viewer.waitFor({ state: "detached" });
    const [zip] = await Promise.all([other.waitForEvent("download"), card(other, "empty.zip").getByRole("button", { name: "Save empty.zip" }).click()]);
    expect(readFileSync(await zip.path())).toEqual(ZIP);
  });

  test("a file that is no longer stored says so", async () => {
    const page = await scene.open(session("gone"));
    await say(page, "short-lived", { ...csv, name: "gone.csv" });
    await log(page).locator("oc-chat-attachment").getByText("name,amount", { exact: false }).waitFor();
    const folder = join(scene.place.stateDir, "media", "inbound");
    for (const name of readdirSync(folder)) if (name.startsWith("gone")) rmSync(join(folder, name));
    await page.reload();
    await log(page).getByText("gone.csv is no longer stored on the gateway", { exact: false }).waitFor();
  });

  test("a message with a file is sent again with the file", async () => {
    const page = await scene.open(session("again"));
    await say(page, "once", { ...csv, name: "again.csv" });
    await log(page).locator("oc-chat-attachment").first().waitFor();
    await log(page).getByRole("button", { name: "Send again" }).first().click();
    await expect.poll(() => log(page).locator("oc-chat-attachment").count(), SOON).toBe(2);
    expect(await log(page).locator(".bubble", { hasText: "once" }).allInnerTexts()).toEqual(["once", "once"]);
  });

  test("a queued message with a picture comes back to be edited with it, and is sent into the running answer with it", async () => {
    const page = await scene.open(session("queue"));
    const command = "while [ ! -e files-on ]; do sleep 0.02; done; echo went on";
    await plan([{ tool: "exec", args: JSON.stringify({ command }) }, { say: "Both are done." }]);
    await say(page, "do one thing");
    await log(page).locator(".tool.running").waitFor();
    await say(page, "see this", { name: "dot.png", mimeType: "image/png", buffer: PNG });
    await expect.poll(() => queue(page).count(), SOON).toBe(1);
    // Another browser has never seen the file.
    const other = await scene.open(session("queue"));
    await queue(other).getByRole("button", { name: "Edit queued message" }).click();
    await expect.poll(() => box(other).inputValue(), SOON).toBe("see this");
    await expect.poll(() => attached(other).count(), SOON).toBe(1);
    await box(other).fill("see that");
    await box(other).press("Enter");
    await queue(other).filter({ hasText: "see that" }).getByRole("button", { name: "Send now" }).click();
    await expect.poll(() => queue(other).count(), SOON).toBe(0);
    writeFileSync(join(scene.workspace, "files-on"), "");
    await log(other).getByText("Both are done.").waitFor();
    const said = log(other).locator(".said", { hasText: "see that" });
    await said.locator("oc-chat-picture").waitFor();
    expect(await log(other).getByText("see this").count()).toBe(0);
  });

  test("a queued message with another file is answered afterwards, and the page says that it stays queued", async () => {
    const page = await scene.open(session("stays"));
    await say(page, "long @chunks=400 @gap=25");
    await log(page).getByText("w3").first().waitFor();
    await say(page, "with numbers", { ...csv, name: "stays.csv" });
    await queue(page).getByRole("button", { name: "Send now" }).click();
    await page.getByText("It stays in the queue.").waitFor();
    expect(await queue(page).count()).toBe(1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await expect.poll(() => attached(page).allInnerTexts(), SOON).toEqual([expect.stringContaining("stays.csv")]);
    expect(await box(page).inputValue()).toBe("with numbers");
  });
});
